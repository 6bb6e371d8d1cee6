import { randomUUID } from 'node:crypto';
import argon2 from 'argon2';
import autocannon from 'autocannon';
import fastify from 'fastify';
import { z } from 'zod';
import { createAdminUser } from '../commands/admins/create-admin-user.ts';
import { getAdminUser } from '../queries/admins/get-admin-user.ts';
import { admin, openAccess, type Access } from '../src/app/http/access.ts';
import { IdempotentResponses } from '../src/app/http/plugins/idempotent-responses.ts';
import { limitRates } from '../src/app/http/plugins/rate-limits.ts';
import { registerRoute } from '../src/app/http/register.ts';
import { route } from '../src/app/http/route.ts';
import { validateWithZod } from '../src/app/http/validation.ts';
import { ARGON2, Passwords } from '../src/contexts/identity/passwords.ts';
import { system } from '../src/platform/kernel/actor.ts';
import { orThrow } from '../src/platform/kernel/failure.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { HttpClient } from './http-client.ts';
import { alternate, compare, concurrently, median, perSecond, type Rounds, type Row } from './measure.ts';

const SECONDS = 2;
/** A storm: while some wait for the disk, which stalls now and then, there is always another hash to compute. */
const STORM = 32;
const FEW = 8;
/** Per caller, so many that the end of a round, when the last callers wait alone, is negligible. */
const LOGINS = 18;
/**
 * The cost of memory access varies by a fifth from one second to the next if it is shared with other virtual machines.
 */
const ROUNDS = 9;
/**
 * Milliseconds until a service is compiled, as it is some minutes after its start. Hashing is left out meanwhile: it is
 * native code already.
 */
const WARM = 12_000;
/** Wrong passwords per account: fewer than lock it. */
const TRIES = 4;
const ACCOUNTS = 80;
export const PASSWORD = 'Correct-Horse-7!';

/**
 * The cost of signing in besides the password's hash, what its duration reveals, and what authentication adds to a
 * read.
 */
export async function measure(): Promise<Row[]> {
  const passwords = new BelievingPasswords();
  const app = await startBenchApp({ passwords });
  const accounts = await newAccounts(app);
  const client = new HttpClient(app.url, STORM);
  const headers = { 'content-type': 'application/json', 'x-tenant-id': app.tenantId };
  const login = async (email: string, password: string) =>
    (await client.send('POST', '/api/v1/auth/login', headers, JSON.stringify({ email, password }))).status;
  const signIn = async (n: number) => {
    // Each caller has its own accounts: pending attempts count, and too many at once would lock one.
    const status = await login(accounts[n % accounts.length]!.email, PASSWORD);
    if (status !== 200) throw new Error(`not signed in: ${status}`);
  };
  const hash = await argon2.hash(PASSWORD, ARGON2);
  const rate = (callers: number, call: (n: number) => Promise<unknown>) => () =>
    perSecond(callers * LOGINS, () => concurrently(callers, callers * LOGINS, call));
  const check = () => argon2.verify(hash, PASSWORD);
  passwords.warming = true;
  await concurrently(FEW, WARM, signIn);
  passwords.warming = false;
  const [storm, rawStorm] = await alternate(ROUNDS, [rate(STORM, signIn), rate(STORM, check)]);
  const [few, rawFew] = await alternate(ROUNDS, [rate(FEW, signIn), rate(FEW, check)]);

  const known = accounts.map(({ email }) => email);
  const durations = await durationsOf(known, (email) => login(email, 'Wrong-Horse-7!'));
  const reads = await readRates(app, accounts[0]!.adminId);
  client.close();
  await app.stop();
  return [
    compare(
      `logins at ${STORM} clients, against Argon2id alone with the same parameters`,
      'logins/s',
      '>= 0.85',
      storm!,
      rawStorm!,
      'Argon2id',
    ),
    compare(
      `logins at ${FEW} clients, against Argon2id alone with the same parameters`,
      'logins/s',
      'reported',
      few!,
      rawFew!,
      'Argon2id',
    ),
    compare(
      'a read with authentication, against the same read without',
      'requests/s',
      `>= ${(1 / 1.15).toFixed(2)}`,
      reads.guarded,
      reads.open,
      'open route',
    ),
    compare(
      `a wrong password of a known e-mail, against an unknown one (median; ${difference(durations)})`,
      'ms',
      'reported',
      median(durations.known),
      median(durations.unknown),
      'unknown',
    ),
  ];
}

/** Accepts any password during the warm-up. */
export class BelievingPasswords extends Passwords {
  warming = false;

  override verify(hash: string, password: string): Promise<boolean> {
    return this.warming ? Promise.resolve(true) : super.verify(hash, password);
  }
}

export async function newAccounts({ services, tenantId }: BenchApp): Promise<{ adminId: string; email: string }[]> {
  const accounts = Array.from({ length: ACCOUNTS }, () => ({
    adminId: randomUUID(),
    email: `${randomUUID()}@bench.example`,
  }));
  await concurrently(4, accounts.length, async (n) => {
    const input = {
      ...accounts[n]!,
      displayName: 'Bench',
      roleType: 'viewer',
      password: PASSWORD,
      mustChangePassword: false,
    } as const;
    const { position } = orThrow(
      await services.executor.execute(createAdminUser, input, { tenantId, actor: system('bench') }),
    );
    await services.freshness.waitFor(createAdminUser.freshens ?? [], position!, 10_000);
  });
  return accounts;
}

interface Durations {
  readonly known: number[];
  readonly unknown: number[];
}

/** One at a time, known and unknown in turns, in changing order. */
async function durationsOf(known: readonly string[], attempt: (email: string) => Promise<number>): Promise<Durations> {
  const unknown = known.map(() => `${randomUUID()}@bench.example`);
  const durations: Durations = { known: [], unknown: [] };
  for (let n = 0; n < known.length * TRIES; n += 1) {
    const sides = [
      ['known', known],
      ['unknown', unknown],
    ] as const;
    for (const [side, emails] of n % 2 === 0 ? sides : sides.toReversed()) {
      const started = performance.now();
      const status = await attempt(emails[n % emails.length]!);
      if (status !== 401) throw new Error(`not refused: ${status}`);
      durations[side].push(performance.now() - started);
    }
  }
  return durations;
}

/** Welch's t, and the medians' difference in terms of the median absolute deviation. */
function difference({ known, unknown }: Durations): string {
  const mean = (values: readonly number[]) => values.reduce((sum, value) => sum + value, 0) / values.length;
  const variance = (values: readonly number[]) =>
    mean(values.map((value) => (value - mean(values)) ** 2)) * (values.length / (values.length - 1));
  const deviation = (values: readonly number[]) => median(values.map((value) => Math.abs(value - median(values))));
  const t =
    (mean(known) - mean(unknown)) / Math.sqrt(variance(known) / known.length + variance(unknown) / unknown.length);
  const apart = Math.abs(median(known) - median(unknown)) / deviation([...known, ...unknown]);
  return `${known.length} each, Welch t ${t.toFixed(2)}, medians ${apart.toFixed(2)} MAD apart`;
}

/** One handler behind two listeners of one server. */
async function readRates(
  { services, tenantId, headers }: BenchApp,
  adminId: string,
): Promise<{ guarded: Rounds; open: Rounds }> {
  const server = fastify();
  validateWithZod(server);
  server.decorateRequest('principal', undefined);
  await limitRates(server, undefined, services.log);
  const answers = new IdempotentResponses(services.database.service, {
    sealing: [Buffer.alloc(32)],
    digesting: Buffer.alloc(32),
  });
  const behind = (path: string, access: Access) =>
    registerRoute(
      server,
      route({
        method: 'GET',
        path,
        access,
        summary: '',
        response: z.object({}),
        handle: ({ ask }) => ask(getAdminUser, { adminId }, tenantId),
      }),
      services,
      answers,
    );
  behind('/guarded', admin('self:read'));
  behind('/open', openAccess('session'));
  const url = await server.listen({ host: '127.0.0.1', port: 0 });
  const cannon = (path: string) => async () =>
    (await autocannon({ url: `${url}${path}`, headers, connections: 32, duration: SECONDS })).requests.average;
  await cannon('/guarded')();
  const [guarded, unguarded] = await alternate(ROUNDS, [cannon('/guarded'), cannon('/open')]);
  await server.close();
  return { guarded: guarded!, open: unguarded! };
}
