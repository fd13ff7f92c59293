"""A check of a data pipeline in CI: its keys may not make one partition much larger than the others.

The wheel brings the pytest fixture `partition_contract`. Put such a test next to those of your pipeline:

    pip install partwright pytest
    pytest examples/test_pipeline.py
"""

import pytest

import partwright as pw


def orders():
    """What your pipeline writes; here 10,000 orders of 500 customers in 10 countries."""
    return [{"customer": f"customer-{n % 500}", "country": f"country-{n % 10}"} for n in range(10_000)]


def test_orders_are_spread_by_customer(partition_contract):
    """No partition of 12 has more than an eighth of the records, and none is empty."""
    found = partition_contract(orders(), key="customer", n=12, max_share="12.5%", min_used="100%")
    assert found.rows == 10_000


def test_a_coarser_key_would_not_pass():
    """Ten countries cannot fill twelve partitions; the error names the partition and its keys."""
    with pytest.raises(pw.ContractError, match="partition"):
        pw.check_contract(orders(), key="country", n=12, max_share="12.5%", min_used="100%")
