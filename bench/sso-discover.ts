import { DEFAULT_ISSUER_TRUST } from '../src/contexts/sso/domain/fields.ts';
import { randomBytes, randomUUID } from 'node:crypto';
import { createOrgSsoConfig } from '../commands/organizations/create-org-sso-config.ts';
import { system } from '../src/platform/kernel/actor.ts';
import { orThrow } from '../src/platform/kernel/failure.ts';
import { createOrganizationAsOperator } from '../src/app/cli/organization-commands.ts';
import { startBenchApp, type BenchApp } from './app.ts';
import { median, type Row } from './measure.ts';

const ORGANIZATIONS = 50;
const ROUNDS = 250;
const WARM_UP = 20;

/**
 * Whether the time of `POST /org/auth/sso/discover` reveals which accounts exist. Two e-mails are queried in turns, in
 * random order; every quantile is compared, since an attacker may average as long as they like.
 * Reported without a target: a limit on times would fail on a busy machine.
 */
export async function measure(): Promise<Row[]> {
  const app = await startBenchApp();
  const account = 'owner-0@mssp-0.example';
  const domain = 'routed.example';
  for (let n = 0; n < ORGANIZATIONS; n += 1)
    await organize(app, n === 1 ? `owner-1@${domain}` : `owner-${n}@mssp-${n}.example`, n === 1 ? [domain] : []);
  await app.services.freshness.waitFor(app.services.mainModels, await app.services.head(), 10_000);

  const rows = [
    ...report(
      'an e-mail with an account, against one without',
      await alternately(
        app,
        () => account,
        () => `${randomUUID()}@mssp-0.example`,
      ),
    ),
    ...report(
      'two e-mails of a routed domain, with an account and without',
      await alternately(
        app,
        () => `owner-1@${domain}`,
        () => `${randomBytes(4).toString('hex')}@${domain}`,
      ),
    ),
    ...report(
      'twice nobody: what the machine itself makes of it',
      await alternately(
        app,
        () => `${randomUUID()}@a.example`,
        () => `${randomUUID()}@b.example`,
      ),
    ),
  ];
  await app.stop();
  return rows;
}

async function organize({ services }: BenchApp, ownerEmail: string, emailDomains: string[]): Promise<void> {
  const { organizationId } = await createOrganizationAsOperator(services, {
    name: 'Bench',
    ownerEmail,
    externalBaseUrl: 'https://bench.example',
  });
  const input = {
    configId: randomUUID(),
    name: 'IdP',
    issuerUrl: 'https://idp.example',
    clientId: 'c',
    clientSecret: null,
    scopes: 'openid',
    emailDomains,
    ...DEFAULT_ISSUER_TRUST,
  };
  orThrow(
    await services.executor.execute(createOrgSsoConfig, input, { tenantId: organizationId, actor: system('bench') }),
  );
}

/** Milliseconds of either side's calls, one after the other. */
async function alternately({ url }: BenchApp, ...emails: [() => string, () => string]): Promise<[number[], number[]]> {
  const took: [number[], number[]] = [[], []];
  const ask = async (side: 0 | 1) => {
    const body = JSON.stringify({ email: emails[side]() });
    const started = performance.now();
    const answer = await fetch(`${url}/api/v1/org/auth/sso/discover`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`discover responded with ${answer.status}`);
    return performance.now() - started;
  };
  for (let round = -WARM_UP; round < ROUNDS; round += 1) {
    const first = Math.random() < 0.5 ? 0 : 1;
    for (const side of [first, 1 - first] as (0 | 1)[]) {
      const milliseconds = await ask(side);
      if (round >= 0) took[side].push(milliseconds);
    }
  }
  return took;
}

function report(name: string, [ours, peer]: [number[], number[]]): Row[] {
  const quantile = (values: readonly number[], part: number) =>
    values.toSorted((a, b) => a - b)[Math.floor(values.length * part)]!;
  const row = (what: string, of: (values: readonly number[]) => number): Row => ({
    name: `discover: ${name}, ${what}`,
    ours: of(ours),
    peer: of(peer),
    peerName: 'other',
    unit: 'ms',
    ratio: of(ours) / of(peer),
    target: 'reported',
  });
  return [
    row('p10', (values) => quantile(values, 0.1)),
    row('median', median),
    row('p90', (values) => quantile(values, 0.9)),
  ];
}
