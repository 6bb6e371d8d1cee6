-- PostgreSQL lets everybody execute a new function, unless the default privileges of a server take that from PUBLIC. Policies of
-- all tables call this one.
grant execute on function castellan_tenant() to castellan_store, castellan_service, castellan_projector, castellan_reads;
