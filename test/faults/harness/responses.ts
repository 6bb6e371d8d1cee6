import { ask } from './ask.ts';
import type { Counts } from './recount.ts';

interface Asked {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

const PAGE_SIZE = 100;

async function get<T>({ url, headers }: Asked, path: string): Promise<T> {
  const { status, body, text } = await ask(url + path, { headers, timeoutMs: 30_000 });
  if (status !== 200) throw new Error(`GET ${path}: ${status} ${text}`);
  return body as T;
}

/** Every record of a paginated list, as an administrator's browser would page through it. */
export async function all<T>(asked: Asked, path: string, list: string): Promise<T[]> {
  const found: T[] = [];
  for (let page = 1; ; page += 1) {
    const separator = path.includes('?') ? '&' : '?';
    const body = await get<Record<string, unknown>>(asked, `${path}${separator}page=${page}&page_size=${PAGE_SIZE}`);
    found.push(...(body[list] as T[]));
    if (page >= ((body['totalPages'] as number | undefined) ?? 1)) return found;
  }
}

/** The counts that the service itself reports. */
export async function counted(asked: Asked): Promise<Counts> {
  const base = '/api/v1/admin';
  const [users, alerts, entries, policies, telemetry] = await Promise.all([
    get<{ total: number }>(asked, `${base}/users?page_size=1`),
    get<{ total: number; resolved: number }>(asked, `${base}/alerts/stats`),
    get<{ total: number }>(asked, `${base}/extension-monitoring/whitelist`),
    get<{ total: number }>(asked, `${base}/policies`),
    get<{ total: number }>(asked, `${base}/events/stats`),
  ]);
  return {
    employees: users.total,
    alerts: alerts.total,
    resolved: alerts.resolved,
    whitelistEntries: entries.total,
    policies: policies.total,
    observations: telemetry.total,
  };
}
