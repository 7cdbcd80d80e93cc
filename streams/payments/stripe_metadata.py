"""What we write on a refund of Stripe's, so that it can be found and checked: up to 50 texts of 500 characters."""

from collections.abc import Mapping

from streams.payments.port import RefundRequest

REFERENCE = "refund_bench_reference"
LONGEST = 500
SCOPES = "scopes_"
MOST_SCOPES_PARTS = 40


def metadata_of(request: RefundRequest) -> dict[str, str]:
    """Reference, order, customer and pay scopes. Scopes that do not fit are cut: they are for checking only."""
    scopes = ",".join(request.scopes)
    parts = [scopes[at : at + LONGEST] for at in range(0, len(scopes), LONGEST)]
    return {
        REFERENCE: request.reference,
        "order_id": request.order_id,
        "customer_id": request.account,
        **{f"{SCOPES}{number}": part for number, part in enumerate(parts[:MOST_SCOPES_PARTS])},
    }


def scopes_in(metadata: Mapping[str, str]) -> tuple[str, ...]:
    """The pay scopes as they were written."""
    parts = [metadata.get(f"{SCOPES}{number}", "") for number in range(MOST_SCOPES_PARTS)]
    return tuple(scope for scope in "".join(parts).split(",") if scope)
