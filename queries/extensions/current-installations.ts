const ENROLLED = "d.status in ('active', 'wipe_pending')";
const INVENTORY =
  'left join extension_inventories i on i.tenant_id = d.tenant_id and i.device_id = d.device_id and i.user_id = d.user_id';

/** Browsers with their kind and their latest inventory; `which` is a condition on `d`, the device. */
const browsersWith = (which: string): string => `
  select d.device_id, d.user_id, d.browser_type, d.hostname, i.stamp from devices d ${INVENTORY} where d.tenant_id = $1 and ${which}`;

/** What was told of `x` still holds in the browser `b`: it is that person's still, nothing was removed and no later inventory goes without it. */
const IS_THERE = `x.tenant_id = $1 and x.device_id = b.device_id and x.user_id = b.user_id and not x.is_removed
     and (b.stamp is null or x.told collate "C" >= b.stamp collate "C")`;

/** Every extension in these browsers. The browsers come first, once: joined with each installation they would cost more than all the rest. */
export const installedOn = (which: string): string => `(
  with b as materialized (${browsersWith(which)})
  select x.*, b.browser_type, b.hostname from b join installed_extensions x on ${IS_THERE})`;

/** In the browsers that are enrolled: one that was revoked or wiped has nothing any more. */
export const CURRENTLY_INSTALLED = installedOn(ENROLLED);

/** The same, of a few extensions: here the installations come first, and each looks its browser up. `which` is a condition on `x`. */
export const installationsOf = (which: string): string => `(
  select x.*, b.browser_type, b.hostname
    from installed_extensions x
    join lateral (${browsersWith(`d.device_id = x.device_id and d.user_id = x.user_id and ${ENROLLED}`)}) b on ${IS_THERE}
   where x.tenant_id = $1 and ${which})`;

/** Browsers that have any extension. */
export const DEVICES_WITH_EXTENSIONS = `(${browsersWith(ENROLLED)}) b where exists (select from installed_extensions x where ${IS_THERE})`;

const LISTED =
  'select lower(w.extension_id) as extension_id, w.browser_type from extension_whitelist_entries w where w.tenant_id = $1';

/** The whitelist allows the extension of this row in its kind of browser. Identifiers are compared without case, as the whitelist's uniqueness is. */
export const isListed = (row: string): string => `(
  lower(${row}.extension_id) in (select w.extension_id from (${LISTED}) w where w.browser_type is null)
  or coalesce((lower(${row}.extension_id), ${row}.browser_type) in (select w.extension_id, w.browser_type from (${LISTED}) w where w.browser_type is not null), false))`;

interface Grouping {
  readonly from?: string;
  /** Conditions on `n`, an installation: which count, and which one has to be among them. */
  readonly where?: string;
  readonly isFound?: string;
}

/** One row for an extension in a kind of browser: what has to be done for each installation is done here, once. */
export const byBrowser = ({ from = CURRENTLY_INSTALLED, where = 'true', isFound = 'true' }: Grouping = {}): string => `
  select n.extension_id, n.browser_type, count(*)::int as install_count, max(n.risk) as risk, min(n.first_seen_at) as first_seen_at, max(n.last_seen_at) as last_seen_at,
         bool_or(${isFound}) as is_found
    from ${from} n
   where ${where}
   group by n.extension_id, n.browser_type`;

/** One row an extension: listed is one that is listed in every kind of browser that has it. */
export const selectFleet = (groups = byBrowser()): string => `
  select g.extension_id, sum(g.install_count)::int as install_count, max(g.risk) as risk, bool_and(${isListed('g')}) as is_listed,
         min(g.first_seen_at) as first_seen_at, max(g.last_seen_at) as last_seen_at, bool_or(g.is_found) as is_found
    from (${groups}) g
   group by g.extension_id`;
