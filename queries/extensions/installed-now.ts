const LISTED = 'select lower(w.extension_id) as extension_id, w.browser_type from extension_whitelist_entries w where w.tenant_id = $1';

/**
 * Every extension in these browsers: not removed since, not missing from a later inventory, the browser still that person's.
 * `is_listed`: the whitelist allows it in this kind of browser (identifiers are compared without case, as the whitelist's
 * uniqueness is). `browsers` is a condition on `x`, what was told, and `d`, the device.
 */
export const installedOn = (browsers: string): string => `(
  select x.*, d.browser_type, d.hostname,
         lower(x.extension_id) in (select w.extension_id from (${LISTED}) w where w.browser_type is null)
           or coalesce((lower(x.extension_id), d.browser_type) in (select w.extension_id, w.browser_type from (${LISTED}) w where w.browser_type is not null), false)
           as is_listed
    from installed_extensions x
    join devices d on d.tenant_id = x.tenant_id and d.device_id = x.device_id and d.user_id = x.user_id
    left join extension_inventories i on i.tenant_id = x.tenant_id and i.device_id = x.device_id and i.user_id = x.user_id
   where x.tenant_id = $1 and d.tenant_id = $1 and ${browsers}
     and not x.is_removed and (i.stamp is null or x.told collate "C" >= i.stamp collate "C"))`;

/** In the browsers that are enrolled: one that was revoked or wiped has nothing any more. */
export const INSTALLED_NOW = installedOn("d.status in ('active', 'wipe_pending')");

/** One row an extension: listed is one that is listed in every browser that has it. */
export const FLEET = (where = 'true') => `
  select n.extension_id, count(*)::int as install_count, max(n.risk) as risk, bool_and(n.is_listed) as is_listed,
         min(n.first_seen_at) as first_seen_at, max(n.last_seen_at) as last_seen_at, string_agg(distinct lower(n.name), E'\\n') as names
    from ${INSTALLED_NOW} n
   where ${where}
   group by n.extension_id`;
