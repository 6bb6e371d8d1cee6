const ENROLLED = "d.status in ('active', 'wipe_pending')";
const INVENTORY =
  'left join extension_inventories i on i.tenant_id = d.tenant_id and i.device_id = d.device_id and i.user_id = d.user_id';

/** Browsers with their type and latest inventory. `which` is a condition on `d`, the device. */
const browsersWith = (which: string): string => `
  select d.device_id, d.user_id, d.browser_type, d.hostname, i.stamp from devices d ${INVENTORY} where d.tenant_id = $1 and ${which}`;

/**
 * Report `x` still holds in browser `b`: the user is the same, the extension was not removed, and no later inventory
 * lacks it.
 */
const IS_THERE = `x.tenant_id = $1 and x.device_id = b.device_id and x.user_id = b.user_id and not x.is_removed
     and (b.stamp is null or x.told collate "C" >= b.stamp collate "C")`;

/**
 * All extensions in these browsers. The browsers are materialized first: joining them with each installation would
 * dominate the cost.
 */
export const installedOn = (which: string): string => `(
  with b as materialized (${browsersWith(which)})
  select x.*, b.browser_type, b.hostname from b join installed_extensions x on ${IS_THERE})`;

/** Extensions in enrolled browsers; revoked and wiped browsers have none. */
export const CURRENTLY_INSTALLED = installedOn(ENROLLED);

/**
 * The same for a few extensions: starts from the installations and looks up the browser of each. `which` is a condition
 * on `x`.
 */
export const installationsOf = (which: string): string => `(
  select x.*, b.browser_type, b.hostname
    from installed_extensions x
    join lateral (${browsersWith(`d.device_id = x.device_id and d.user_id = x.user_id and ${ENROLLED}`)}) b on ${IS_THERE}
   where x.tenant_id = $1 and ${which})`;

/** Browsers with at least one extension. */
export const DEVICES_WITH_EXTENSIONS = `(${browsersWith(ENROLLED)}) b where exists (select from installed_extensions x where ${IS_THERE})`;

const LISTED =
  'select lower(w.extension_id) as extension_id, w.browser_type from extension_whitelist_entries w where w.tenant_id = $1';

/**
 * True if the whitelist allows the row's extension in its browser type. Identifiers are compared case-insensitively,
 * like the whitelist's uniqueness.
 */
export const isListed = (row: string): string => `(
  lower(${row}.extension_id) in (select w.extension_id from (${LISTED}) w where w.browser_type is null)
  or coalesce((lower(${row}.extension_id), ${row}.browser_type) in (select w.extension_id, w.browser_type from (${LISTED}) w where w.browser_type is not null), false))`;

interface Grouping {
  readonly from?: string;
  /** Conditions on `n`, an installation: `where` selects what counts; `isFound` must hold for at least one. */
  readonly where?: string;
  readonly isFound?: string;
}

/** One row per extension and browser type, so that later steps run once per row and not per installation. */
export const byBrowser = ({ from = CURRENTLY_INSTALLED, where = 'true', isFound = 'true' }: Grouping = {}): string => `
  select n.extension_id, n.browser_type, count(*)::int as install_count, max(n.risk) as risk, min(n.first_seen_at) as first_seen_at, max(n.last_seen_at) as last_seen_at,
         bool_or(${isFound}) as is_found
    from ${from} n
   where ${where}
   group by n.extension_id, n.browser_type`;

/** One row per extension. It is listed if it is listed in every browser type that has it. */
export const selectFleet = (groups = byBrowser()): string => `
  select g.extension_id, sum(g.install_count)::int as install_count, max(g.risk) as risk, bool_and(${isListed('g')}) as is_listed,
         min(g.first_seen_at) as first_seen_at, max(g.last_seen_at) as last_seen_at, bool_or(g.is_found) as is_found
    from (${groups}) g
   group by g.extension_id`;
