-- Once, as the administrator of the PostgreSQL server, in the lake's database; before `upwell init`.
-- Give each role a password, or whatever your server asks of a login. None may be a superuser or have BYPASSRLS.
--
--   lake_owner    makes and migrates the tables (`upwell init`), and lets old records of the audit go
--   lake_workers  gateway, workers, commands: reads and writes rows
--   lake_readers  serve: reads, of one tenant in each transaction, and appends to the audit
CREATE ROLE lake_owner LOGIN;
CREATE ROLE lake_workers LOGIN;
CREATE ROLE lake_readers LOGIN;
GRANT CREATE, USAGE ON SCHEMA public TO lake_owner;
ALTER DEFAULT PRIVILEGES FOR ROLE lake_owner IN SCHEMA public
    GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO lake_workers;
ALTER DEFAULT PRIVILEGES FOR ROLE lake_owner IN SCHEMA public
    GRANT USAGE ON SEQUENCES TO lake_workers;
-- Whatever a session of theirs says, it sees the rows of the tenant that it has named, and without one none.
ALTER ROLE lake_readers SET upwell.reading = 'on';
