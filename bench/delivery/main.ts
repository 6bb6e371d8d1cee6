import type { Row } from '../measure.ts';
import { measureBurst } from './burst.ts';
import { measureForwarding } from './forwarding.ts';
import { measureLiveForwarding } from './live-forwarding.ts';
import { measureWebhooks } from './webhooks.ts';

/** What leaves the installation. `BENCH_ONLY=burst` measures one part. */
export async function measure(): Promise<Row[]> {
  const parts = {
    forwarding: measureForwarding,
    live: measureLiveForwarding,
    webhooks: measureWebhooks,
    burst: measureBurst,
  };
  const only = process.env['BENCH_ONLY'];
  const rows: Row[] = [];
  for (const [name, part] of Object.entries(parts)) if (!only || only === name) rows.push(...(await part()));
  return rows;
}
