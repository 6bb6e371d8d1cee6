import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';

const TOOL = '/usr/bin/samba-tool';
const SAMBA = '/usr/sbin/samba';
export const AD_BASE = 'DC=corp,DC=acme,DC=example';
export const AD_PASSWORD = 'Correct-Horse-7!';
/** The ports of LDAP are fixed in Samba, so an address of its own is used. */
const ADDRESS = '127.0.0.77';

/** Samba as a domain controller needs root, and is only where Debian's packages installed all of it. */
export const hasSamba = (): boolean =>
  process.getuid?.() === 0 && [TOOL, SAMBA, '/usr/share/samba/setup', ...modules()].every((path) => existsSync(path));

/** Of the packages `samba-dsdb-modules` and `samba-vfs-modules`, which are only recommended. */
const modules = (): string[] => {
  const architecture = process.arch === 'arm64' ? 'aarch64' : 'x86_64';
  const folder = `/usr/lib/${architecture}-linux-gnu/samba`;
  return [`${folder}/ldb/acl.so`, `${folder}/vfs/acl_xattr.so`];
};

const tool = (folder: string, ...args: readonly string[]): void => {
  const { status, stderr, stdout } = spawnSync(TOOL, [...args, `--configfile=${folder}/etc/smb.conf`], {
    encoding: 'utf8',
  });
  if (status !== 0) throw new Error(`samba-tool ${args[0]} failed: ${stderr}${stdout}`);
};

/** An Active Directory domain controller in a temporary folder, on an address of loopback. */
export async function startSamba() {
  const folder = mkdtempSync('/tmp/castellan-samba-');
  mkdirSync(`${folder}/etc`);
  const { status, stderr } = spawnSync(
    TOOL,
    [
      'domain',
      'provision',
      '--use-rfc2307',
      '--realm=CORP.ACME.EXAMPLE',
      '--domain=CORP',
      '--server-role=dc',
      '--dns-backend=NONE',
      `--adminpass=${AD_PASSWORD}`,
      `--targetdir=${folder}`,
      `--host-ip=${ADDRESS}`,
      '--option=interfaces=127.0.0.77/8',
      '--option=bind interfaces only=yes',
      '--option=server services=ldap',
      '--host-name=dc',
      `--option=posix:eadb=${folder}/eadb.tdb`,
    ],
    { encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(`samba-tool domain provision failed: ${stderr.slice(-2_000)}`);
  const child = spawn(SAMBA, ['-i', '-M', 'single', `--configfile=${folder}/etc/smb.conf`], {
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let said = '';
  child.stderr.on('data', (chunk: Buffer) => (said = (said + chunk.toString()).slice(-2_000)));
  for (const until = Date.now() + 60_000; !(await accepts(636));) {
    if (child.exitCode !== null || Date.now() > until) throw new Error(`samba did not start: ${said}`);
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  return {
    host: ADDRESS,
    /** Samba makes its own authority; its certificate names `DC.corp.acme.example`. */
    ca: () => readFileSync(`${folder}/private/tls/ca.pem`, 'utf8'),
    tool: (...args: string[]) => tool(folder, ...args),
    async stop() {
      if (child.exitCode === null) {
        const ended = once(child, 'exit');
        child.kill('SIGTERM');
        await ended;
      }
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, ADDRESS);
    socket.once('connect', () => (socket.destroy(), resolve(true)));
    socket.once('error', () => resolve(false));
  });
