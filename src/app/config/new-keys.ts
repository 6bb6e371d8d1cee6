import { generateKeyPairSync, randomBytes } from 'node:crypto';
import { newNodeCertificates } from '../../platform/pki/node-certificates.ts';

/** A variable of the file, with what it is for if that is not clear from the ones before. */
interface NewKey {
  readonly name: string;
  readonly value: string;
  readonly comment?: string;
}

const key = (): string => randomBytes(32).toString('hex');
/** 32 random bytes, in characters that neither a URL, a shell nor a configuration file treats in a special way. */
const password = (): string => randomBytes(32).toString('base64url');

/** The certificate's names for the event store of docker-compose.yml. */
const EVENT_STORE = {
  commonName: 'eventstoredb-node',
  hostNames: ['eventstore', 'localhost'],
  ipAddresses: ['127.0.0.1'],
};
const TEN_YEARS_DAYS = 3_650;

/** All keys, passwords and certificates that an installation of docker-compose.yml needs. */
export function newKeys(now: number): readonly NewKey[] {
  const license = generateKeyPairSync('ed25519');
  const eventStore = newNodeCertificates({ ...EVENT_STORE, now, days: TEN_YEARS_DAYS });
  return [
    { name: 'MASTER_KEY', value: key(), comment: 'Opens every sealed key and secret in the database.' },
    { name: 'AUDIT_HMAC_KEY', value: key(), comment: 'Lets its holder forge the audit chain. It cannot be replaced.' },
    {
      name: 'LICENSE_PUBLIC_KEY',
      value: license.publicKey.export({ type: 'spki', format: 'pem' }).toString(),
      comment: 'Verifies licenses that LICENSE_SIGNING_KEY, below, has signed.',
    },
    { name: 'RECOVERY_KEY', value: password(), comment: 'Enables the recovery routes, for locked-out administrators.' },
    { name: 'METRICS_TOKEN', value: password(), comment: 'Bearer token for /metrics.' },
    { name: 'POSTGRES_PASSWORD', value: password(), comment: 'Passwords of the other services.' },
    { name: 'REDIS_PASSWORD', value: password() },
    { name: 'EVENTSTORE_PASSWORD', value: password() },
    { name: 'EVENTSTORE_ADMIN_PASSWORD', value: password() },
    { name: 'EVENTSTORE_OPS_PASSWORD', value: password() },
    {
      name: 'EVENTSTORE_CA',
      value: eventStore.authorityPem,
      comment: 'TLS of the event store: its authority, whose key was not kept, and its certificate, for ten years.',
    },
    { name: 'EVENTSTORE_NODE_CERTIFICATE', value: eventStore.certificatePem },
    { name: 'EVENTSTORE_NODE_KEY', value: eventStore.privateKeyPem },
    {
      name: 'LICENSE_SIGNING_KEY',
      value: license.privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
      comment:
        'Only for `castellan license issue --signing-key FILE`. No service gets it: move it to where licenses are issued.',
    },
  ];
}

const HEAD = `# Keys of a Castellan installation, created by \`castellan keys make\`. Everybody who reads this file can read and
# forge everything: keep its mode at 0600, and a copy in a safe place apart from backups of the database.
# Other settings may be added: .env.example lists all of them.
`;

/** As Docker Compose reads it: PEM in one line, with \`\\n\` in double quotes. */
export const asEnvironmentFile = (keys: readonly NewKey[]): string =>
  `${HEAD}${keys.map(({ name, value, comment }) => `${comment ? `\n# ${comment}\n` : ''}${name}=${quoted(value)}\n`).join('')}`;

const quoted = (value: string): string =>
  value.includes('\n') ? `"${value.trim().replaceAll('\n', '\\n')}\\n"` : value;
