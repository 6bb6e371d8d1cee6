import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { ownAuthority } from './own-authority.ts';
import { scratchFolder } from './scratch.ts';
import { freePort } from './free-port.ts';

const SLAPD = '/usr/sbin/slapd';
const SLAPADD = '/usr/sbin/slapadd';
const SCHEMA = '/etc/ldap/schema';
const MODULES = '/usr/lib/ldap';

/** OpenLDAP from Debian (slapd). */
export const hasSlapd = (): boolean => existsSync(SLAPD) && existsSync(`${SCHEMA}/inetorgperson.schema`);

export const LDAP_BASE = 'dc=acme,dc=example';
export const LDAP_ADMIN = `cn=reader,${LDAP_BASE}`;
export const LDAP_PASSWORD = 'ldap-hush-hush';

const BASE_LDIF = `dn: ${LDAP_BASE}
objectClass: dcObject
objectClass: organization
dc: acme
o: Acme

dn: ou=people,${LDAP_BASE}
objectClass: organizationalUnit
ou: people

dn: ou=groups,${LDAP_BASE}
objectClass: organizationalUnit
ou: groups
`;

/** An LDAP server of its own on loopback, with LDAP (StartTLS) and LDAPS, filled before it starts. */
export async function startSlapd(ldif: string | Iterable<string> = '') {
  const folder = scratchFolder('slapd');
  mkdirSync(`${folder}/db`);
  const authority = ownAuthority();
  writeFileSync(`${folder}/ca.pem`, authority.cert);
  writeFileSync(`${folder}/cert.pem`, authority.cert);
  writeFileSync(`${folder}/key.pem`, authority.key, { mode: 0o600 });
  writeFileSync(`${folder}/slapd.conf`, configuration(folder));
  const add = (text: string) => {
    const { status, stderr } = spawnSync(SLAPADD, ['-q', '-f', `${folder}/slapd.conf`], {
      input: text,
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`slapadd failed: ${stderr}`);
  };
  add(BASE_LDIF);
  if (typeof ldif === 'string') {
    if (ldif !== '') add(ldif);
  } else for (const part of ldif) add(part);
  const [port, tlsPort] = [await freePort(), await freePort()];
  const child = spawn(
    SLAPD,
    ['-d', '0', '-f', `${folder}/slapd.conf`, '-h', `ldap://127.0.0.1:${port}/ ldaps://127.0.0.1:${tlsPort}/`],
    { stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  for (const until = Date.now() + 20_000; !(await accepts(tlsPort));) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`slapd did not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  /** Runs `ldapmodify` as the administrator. */
  const modify = (text: string) => {
    const args = ['-x', '-H', `ldap://127.0.0.1:${port}`, '-D', LDAP_ADMIN, '-w', LDAP_PASSWORD];
    const { status, stderr } = spawnSync('ldapmodify', args, { input: text, encoding: 'utf8' });
    if (status !== 0) throw new Error(`ldapmodify failed: ${stderr}`);
  };
  return {
    host: '127.0.0.1',
    port,
    tlsPort,
    ca: authority.cert,
    modify,
    async stop() {
      if (child.exitCode !== null) return;
      const ended = once(child, 'exit');
      child.kill('SIGTERM');
      await ended;
    },
  };
}
export type Slapd = Awaited<ReturnType<typeof startSlapd>>;

const configuration = (folder: string): string => `
${['core', 'cosine', 'inetorgperson'].map((name) => `include ${SCHEMA}/${name}.schema`).join('\n')}
modulepath ${MODULES}
moduleload back_mdb
pidfile ${folder}/slapd.pid
TLSCACertificateFile ${folder}/ca.pem
TLSCertificateFile ${folder}/cert.pem
TLSCertificateKeyFile ${folder}/key.pem
sizelimit size.soft=500 size.hard=500 size.prtotal=unlimited size.pr=1000
database mdb
maxsize 2147483648
suffix "${LDAP_BASE}"
rootdn "${LDAP_ADMIN}"
rootpw ${LDAP_PASSWORD}
directory ${folder}/db
index objectClass,entryUUID eq
`;

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });

export const personLdif = (uid: string, attributes: Readonly<Record<string, string>>): string =>
  [
    `dn: uid=${uid},ou=people,${LDAP_BASE}`,
    'objectClass: inetOrgPerson',
    `uid: ${uid}`,
    `sn: ${uid}`,
    ...Object.entries({ cn: uid, ...attributes }).map(([name, value]) => `${name}: ${value}`),
    '',
    '',
  ].join('\n');

export const groupLdif = (cn: string, members: readonly string[]): string =>
  [
    `dn: cn=${cn},ou=groups,${LDAP_BASE}`,
    'objectClass: groupOfNames',
    `cn: ${cn}`,
    ...members.map((dn) => `member: ${dn}`),
    '',
    '',
  ].join('\n');
export const personDn = (uid: string): string => `uid=${uid},ou=people,${LDAP_BASE}`;
export const groupDn = (cn: string): string => `cn=${cn},ou=groups,${LDAP_BASE}`;
