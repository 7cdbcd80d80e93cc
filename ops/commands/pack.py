"""`pack`: check a policy pack before anything runs under it."""

from typing import Annotated, Any

import typer

from ops.commands.reply import FALSE, TRUE, Json, answer, commands, refuse, say

app = commands()


@app.callback()
def pack() -> None:
    """Check a policy pack: one domain's categories, prices, tiers, deadlines, seats and prompts."""


@app.command()
def check(
    path: Annotated[str, typer.Argument(help="The pack's folder, <policy>/v<version>.")],
    as_json: Json = False,
) -> None:
    """Read a pack as the apps would, and say everything that is wrong with it; exit code 1 where anything is.

    The hash seals every file of the folder. A dispute is pinned to it, so a pack that has been used is never
    edited: raise `version`, copy the folder.

    Examples:

      refund-bench pack check streams/policies/food-delivery/v1
      refund-bench pack check packs/insurance-in/v1 --json
    """
    from pathlib import Path

    from streams.policies import loader

    folder = Path(path)
    folder = folder.parent if folder.name == "pack.toml" else folder
    if not (folder / "pack.toml").is_file():
        refuse(f"{path}: holds no pack.toml", "name the folder that holds pack.toml")
    problems = loader.check_pack(folder.resolve())
    found: dict[str, Any] = {"policy": None, "version": None, "hash": None}
    try:
        loaded = loader.load_pack(folder.resolve())
    except loader.PackError:
        pass  # among the problems
    else:
        found = {
            "policy": loaded.pack.policy,
            "version": loaded.pack.version,
            "hash": loaded.hash,
            "categories": len(loaded.pack.categories),
            "seats": len(loaded.pack.bench.seats),
        }

    def tell() -> None:
        for problem in problems:
            say(f"WRONG {problem}")
        if not problems:
            say(
                f"{found['policy']} version {found['version']}: {found['categories']} categories, "
                f"{found['seats']} seats\n{found['hash']}"
            )

    answer(
        as_json,
        {"ok": not problems, "path": str(folder), **found, "problems": problems},
        tell,
        FALSE if problems else TRUE,
    )
