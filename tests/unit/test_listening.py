"""What a connection to the read side is, below HTTP."""

import socket

from readers import serving


def test_no_part_of_an_answer_waits_for_the_part_before(tmp_path):
    with serving(tmp_path) as service:
        assert service.http.get("/healthz").status_code == 200
        (connection,) = service._listening._server.server_state.connections
        accepted = connection.transport.get_extra_info("socket")
        assert accepted.getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY) != 0
