"""The gateway: where events and hooks come in from the network, for the embedded lake and for the distributed one."""
