"""The lease that the settings ask for."""

from __future__ import annotations

from generator.errors import LeaseUnreachable
from generator.runtime.lease.flock import FileLease
from generator.runtime.lease.values import Lease
from generator.settings import POSTGRES, GeneratorSettings


def open_lease(settings: GeneratorSettings) -> Lease:
    """Make the lease; nothing is asked of it yet, and what it needs is imported only now.

    Raises:
        LeaseUnreachable: LEASE_URL cannot be used on this machine.
    """
    url, ttl_s = settings.lease_url, settings.lease_ttl_seconds
    if url is None:
        return FileLease(settings.state_dir)
    if url.startswith(POSTGRES):
        from generator.wings.postgres_lease import PostgresLease  # noqa: PLC0415

        return PostgresLease(url, ttl_s)
    from generator.wings.bucket.store import StoreFault, open_bucket  # noqa: PLC0415
    from generator.wings.bucket_lease import BucketLease  # noqa: PLC0415

    try:
        return BucketLease(open_bucket(url, request_s=ttl_s / 3), ttl_s)
    except StoreFault as fault:
        raise LeaseUnreachable(f"LEASE_URL {fault}") from fault
