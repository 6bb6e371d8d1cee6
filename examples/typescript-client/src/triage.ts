// Lists all open alerts, resolves the first one, and creates and changes a policy.
//   CASTELLAN_URL=http://127.0.0.1:8080 CASTELLAN_TOKEN=… npm start
import { castellan, orThrow, Refused, type Alert, type Castellan, type Policy } from './client.ts';

/** Every open alert, page by page. `nextCursor` is null after the last page. */
async function* openAlerts(api: Castellan): AsyncGenerator<Alert> {
  let cursor: string | undefined;
  do {
    const query = { status: 'open' as const, page_size: 2, ...(cursor ? { cursor } : {}) };
    const page = orThrow(await api.GET('/api/v1/admin/alerts', { params: { query } }));
    yield* page.alerts;
    cursor = page.nextCursor ?? undefined;
  } while (cursor);
}

async function resolve(api: Castellan, alertID: string): Promise<Alert> {
  return orThrow(
    await api.PUT('/api/v1/admin/alerts/{alertID}/resolve', {
      params: { path: { alertID } },
      body: { status: 'resolved', resolution: 'The password was changed' },
    }),
  );
}

/** Returns the policy with its `ETag`, which names the state that was shown. */
async function createPolicy(api: Castellan, name: string): Promise<{ policy: Policy; tag: string }> {
  const created = await api.POST('/api/v1/admin/policies', {
    body: {
      name,
      rules: [{ domainMatch: { type: 'exact', value: 'example.com' }, condition: 'any', action: 'warn' }],
    },
  });
  return { policy: orThrow(created), tag: created.response.headers.get('etag')! };
}

/** Changes the policy only if nobody else did meanwhile: otherwise the code is `changed_meanwhile`. */
async function describe(api: Castellan, policyID: string, tag: string, description: string): Promise<Policy> {
  return orThrow(
    await api.PUT('/api/v1/admin/policies/{policyID}', {
      params: { path: { policyID }, header: { 'If-Match': tag } },
      body: { description },
    }),
  );
}

const { CASTELLAN_URL = 'http://127.0.0.1:8080', CASTELLAN_TOKEN = '' } = process.env;
const api = castellan(CASTELLAN_URL, CASTELLAN_TOKEN);

const open: Alert[] = [];
for await (const alert of openAlerts(api)) open.push(alert);
console.log(`open alerts: ${open.length}`);
const [first] = open;
if (first) console.log(`${first.title}: ${(await resolve(api, first.id)).status}`);

const { policy, tag } = await createPolicy(api, 'From the example');
console.log(`changed: ${(await describe(api, policy.id, tag, 'Warn before example.com')).name}`);
try {
  await describe(api, policy.id, tag, 'Written over');
} catch (error) {
  if (!(error instanceof Refused)) throw error;
  console.log(`the second change with the same tag: ${error.status} ${error.code}`);
}
