/** Longer statements on the staging tables. `$1` is the tenant, `$2` the synchronization. */

export const PHASE = `update directory_sync_runs set phase = $3, progress = progress || $4::jsonb where tenant_id = $1 and sync_id = $2`;
export const ADD_PEOPLE = `
  with added as (
    insert into directory_sync_people as p (tenant_id, sync_id, external_id, member_key, listed, email, action, user_id, person)
    select $1, $2, r.id, r.key, true, r.email, r.action, r.user_id, r.person
      from unnest($3::text[], $4::text[], $5::text[], $6::text[], $7::uuid[], $8::jsonb[]) as r(id, key, email, action, user_id, person)
    on conflict (tenant_id, sync_id, external_id) do update
      set member_key = excluded.member_key, listed = true, email = excluded.email, action = excluded.action,
          user_id = excluded.user_id, person = excluded.person
    returning external_id, (xmax = 0 or (select not o.listed from directory_sync_people o where o.tenant_id = p.tenant_id and o.sync_id = p.sync_id and o.external_id = p.external_id)) as is_new
  )
  select external_id from added where not is_new`;
export const REMOVE_PEOPLE = `
  update directory_sync_people set listed = false, person = null, email = null, action = null, user_id = null
   where tenant_id = $1 and sync_id = $2 and external_id = any($3)`;
export const ADD_MEMBERS = `
  insert into directory_sync_members (tenant_id, sync_id, group_id, member_key)
  select $1, $2, r.group_id, r.member_key from unnest($3::text[], $4::text[]) as r(group_id, member_key)
  on conflict do nothing`;
export const PLAN = `
  insert into directory_sync_people as p (tenant_id, sync_id, external_id, action, user_id, refusal)
  select $1, $2, r."externalId", r.action, r."userId", r.refusal
    from jsonb_to_recordset($3::jsonb) as r("externalId" text, action text, "userId" uuid, refusal text)
  on conflict (tenant_id, sync_id, external_id) do update
    set action = excluded.action, user_id = excluded.user_id, refusal = excluded.refusal, done = false`;
export const KNOWN_EMAILS = `
  update directory_sync_people p set person = jsonb_set(p.person, '{email}', to_jsonb(r.email))
    from jsonb_to_recordset($3::jsonb) as r("externalId" text, email text)
   where p.tenant_id = $1 and p.sync_id = $2 and p.external_id = r."externalId" and r.email is not null and p.person is not null`;
export const REFUSE_CREATIONS = `
  update directory_sync_people set action = 'refuse', user_id = null, refusal = $4
   where tenant_id = $1 and sync_id = $2 and action = 'create' and external_id = any($3)`;
export const CARRIED_OUT = `update directory_sync_runs set carried_out_to = $3 where tenant_id = $1 and sync_id = $2`;
/** `$4`: what a process that knows of no withheld groups must not take for all of them. */
export const READ_GROUPS = `update directory_sync_runs set read_groups = $3::jsonb, read_in_part = $4::jsonb where tenant_id = $1 and sync_id = $2`;
export const PLANNED_GROUPS = `update directory_sync_runs set planned_groups = $3::jsonb where tenant_id = $1 and sync_id = $2`;
export const REFUSE = `
  update directory_sync_people p set refusal = r.refusal
    from jsonb_to_recordset($3::jsonb) as r("externalId" text, refusal text)
   where p.tenant_id = $1 and p.sync_id = $2 and p.external_id = r."externalId"`;
/**
 * Employees whom the source has linked: a refused change concerns what it changes. Whoever it could not create or link is
 * none of its members.
 */
const IS_MEMBER = `p.user_id is not null and (p.refusal is null or p.action in ('keep', 'change', 'deactivate'))`;
export const MEMBERSHIPS = `
  select m.group_id, count(*)::int as members, sum(hashtextextended(p.user_id::text, 0)::numeric)::text as digest
    from directory_sync_members m
    join directory_sync_people p on p.tenant_id = m.tenant_id and p.sync_id = m.sync_id and p.member_key = m.member_key
   where m.tenant_id = $1 and m.sync_id = $2 and ${IS_MEMBER} group by m.group_id`;
export const REPEATED_EMAILS = `
  select external_id from (
     select external_id, row_number() over (partition by email order by external_id) as place
       from directory_sync_people where tenant_id = $1 and sync_id = $2 and listed and email is not null) people
    where place > 1 limit $3`;
/** Employees who are members of a group. */
export const MEMBERS = `
  select p.user_id, p.external_id from directory_sync_members m
    join directory_sync_people p on p.tenant_id = m.tenant_id and p.sync_id = m.sync_id and p.member_key = m.member_key
   where m.tenant_id = $1 and m.sync_id = $2 and m.group_id = $3 and ${IS_MEMBER}`;
