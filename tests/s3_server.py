"""A local S3 (moto) on loopback for tests: `with s3_server() as options` are the options of fsspec's S3 filesystem."""

from contextlib import contextmanager


@contextmanager
def s3_server(*buckets):
    """A server with these buckets, empty, on a free port."""
    import boto3
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    endpoint = f"http://{host}:{port}"
    client = boto3.client(
        "s3",
        endpoint_url=endpoint,
        region_name="us-east-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
    )
    try:
        for bucket in buckets:
            client.create_bucket(Bucket=bucket)
        yield {"key": "test", "secret": "test", "endpoint_url": endpoint}
    finally:
        client.close()
        server.stop()
