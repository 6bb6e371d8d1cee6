import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startApp, type TestApp } from '../../dsl/app.ts';
import { castellan } from '../../dsl/command-line.ts';

let app: TestApp;
let stream: string;
let position: string;
beforeAll(async () => {
  app = await startApp();
  const tenant = await app.newTenant({ name: 'Acme' });
  for (const name of ['One', 'Two'])
    expect((await tenant.admin.post('/api/v1/admin/groups', { name })).status).toBe(201);
  await app.settled();
  const { rows } = await app.services.database.owner.query<{ stream: string; position: string }>(
    `update events set data = '{"name": 5}' where position =
       (select max(position) from events where type = 'GroupCreated') returning stream, position::text`,
  );
  ({ stream, position } = rows[0]!);
});
afterAll(() => app.close());

const run = (...words: string[]) => castellan(words, {}, (work) => work(app.application));
const cursors = async () => {
  const { result } = JSON.parse((await run('projections', 'status', '--json')).stdout) as {
    result: { consumers: { name: string; state: string }[]; parked: { name: string; stream: string }[] };
  };
  return { groups: result.consumers.filter(({ name }) => name === 'groups'), parked: result.parked };
};

describe('an event that cannot be decoded', () => {
  const sentence = () =>
    new RegExp(`^ +${stream} cannot be folded from position ${position} on: GroupCreated at `, 'm');

  it('is named by projections diff, which goes on with the other models', async () => {
    const { code, stdout, stderr } = await run('projections', 'diff');
    expect(code).toBe(1);
    expect(stderr).not.toMatch(/unexpected error|\n {4}at /);
    expect(stdout).toMatch(sentence());
    const compared = stdout.split('\n').filter((line) => /^(same {3}|DIFFERS|UNKNOWN) /.test(line));
    expect(compared).toHaveLength(app.services.models.length);
  });

  it('is parked by projections rebuild; the service stays ready', async () => {
    const { code, stdout, stderr } = await run('projections', 'rebuild', 'groups');
    expect([code, stderr]).toEqual([0, expect.not.stringContaining('unexpected error')]);
    expect(stdout).toMatch(new RegExp(`^ +parked: ${stream} cannot be folded from position ${position} on: `, 'm'));
    await app.settled();
    const { groups, parked } = await cursors();
    expect(groups).toMatchObject([{ state: 'live' }]);
    expect(parked).toMatchObject([{ name: 'groups', stream }]);
    expect((await app.anonymous.get('/ready')).status).toBe(200);
  });
});
