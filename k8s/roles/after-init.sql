-- After `upwell init`, and again after that of each new version, as lake_owner or the server's administrator.
REVOKE UPDATE, DELETE ON audit, audit_seals, audit_checkpoints FROM lake_workers;
GRANT SELECT ON schema_version, meta, documents, manifests, chunks, applied, links, browsing, acl_names,
    principals, member_of, directories TO lake_readers;
-- How fresh sources are; no dead letter's content.
GRANT SELECT ON eventlog_version, ledger_read TO lake_readers;
GRANT SELECT (tenant, source, received_at, ended_at) ON events TO lake_readers;
-- A read is shown once its record is durable: append, and see where the chains end; not what they say.
GRANT SELECT ON audit_schema_version TO lake_readers;
GRANT INSERT, SELECT (writer, seq, hash, origin) ON audit TO lake_readers;
GRANT INSERT, SELECT (writer, through_seq, sealed_at) ON audit_seals TO lake_readers;
