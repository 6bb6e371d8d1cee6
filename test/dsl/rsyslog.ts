import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { ownAuthority } from './own-authority.ts';
import { scratchFolder } from './scratch.ts';
import { freePort } from './free-port.ts';

const RSYSLOGD = '/usr/sbin/rsyslogd';

const modules = (): string => {
  const [folder] = ['/usr/lib/x86_64-linux-gnu/rsyslog', '/usr/lib/aarch64-linux-gnu/rsyslog'].filter(existsSync);
  return folder ?? '/usr/lib/rsyslog';
};

/** rsyslog from Debian, with its TLS driver (rsyslog, rsyslog-gnutls). */
export const hasRsyslog = (): boolean => existsSync(RSYSLOGD) && existsSync(`${modules()}/lmnsd_gtls.so`);

/** A message as rsyslog has parsed it. */
export interface ParsedMessage {
  readonly facility: string;
  readonly severity: string;
  readonly time: string;
  readonly host: string;
  readonly app: string;
  readonly kind: string;
  readonly structured: string;
  readonly text: string;
}

/** A syslog server of its own on loopback, for all three transports. It writes what it has parsed, a line each. */
export async function startRsyslog() {
  const folder = scratchFolder('rsyslog');
  const authority = ownAuthority();
  writeFileSync(`${folder}/cert.pem`, authority.cert);
  writeFileSync(`${folder}/key.pem`, authority.key, { mode: 0o600 });
  const ports = { udp: await freePort(), tcp: await freePort(), tls: await freePort() };
  writeFileSync(`${folder}/rsyslog.conf`, configuration(folder, ports));
  const checked = spawnSync(RSYSLOGD, ['-N1', '-f', `${folder}/rsyslog.conf`], { encoding: 'utf8' });
  if (checked.status !== 0) throw new Error(`rsyslogd refuses its configuration: ${checked.stderr}`);
  const start = async () => {
    const args = ['-n', '-f', `${folder}/rsyslog.conf`, '-i', `${folder}/pid`];
    const child = spawn(RSYSLOGD, args, { stdio: 'ignore' });
    for (let attempt = 0; !((await isOpen(ports.tcp)) && (await isOpen(ports.tls))); attempt += 1) {
      if (attempt > 200 || child.exitCode !== null) throw new Error('rsyslogd does not start');
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    return child;
  };
  let child = await start();
  const stop = async () => {
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    await ended;
  };
  return {
    ports,
    certificate: authority.cert,
    messages: (): ParsedMessage[] =>
      existsSync(`${folder}/parsed`)
        ? readFileSync(`${folder}/parsed`, 'utf8')
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as ParsedMessage)
        : [],
    restart: async () => {
      await stop();
      child = await start();
    },
    stop,
    start: async () => void (child = await start()),
    close: async () => {
      await stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const configuration = (folder: string, ports: { udp: number; tcp: number; tls: number }): string => `
global(workDirectory="${folder}" maxMessageSize="256k" processInternalMessages="off"
  defaultNetstreamDriverCAFile="${folder}/cert.pem"
  defaultNetstreamDriverCertFile="${folder}/cert.pem"
  defaultNetstreamDriverKeyFile="${folder}/key.pem")
module(load="imudp")
module(load="imptcp")
module(load="imtcp" streamDriver.name="gtls" streamDriver.mode="1" streamDriver.authMode="anon")
template(name="parsed" type="list" option.jsonf="on") {
  property(outname="facility" name="syslogfacility-text" format="jsonf")
  property(outname="severity" name="syslogseverity-text" format="jsonf")
  property(outname="time" name="timereported" dateFormat="rfc3339" format="jsonf")
  property(outname="host" name="hostname" format="jsonf")
  property(outname="app" name="app-name" format="jsonf")
  property(outname="kind" name="msgid" format="jsonf")
  property(outname="structured" name="structured-data" format="jsonf")
  property(outname="text" name="msg" format="jsonf")
}
ruleset(name="all") { action(type="omfile" file="${folder}/parsed" template="parsed") }
input(type="imudp" address="127.0.0.1" port="${ports.udp}" ruleset="all")
input(type="imptcp" address="127.0.0.1" port="${ports.tcp}" ruleset="all" supportOctetCountedFraming="on")
input(type="imtcp" address="127.0.0.1" port="${ports.tls}" ruleset="all" supportOctetCountedFraming="on")
`;

const isOpen = async (port: number): Promise<boolean> => {
  const socket = connect(port, '127.0.0.1');
  const opened = await Promise.race([
    once(socket, 'connect').then(() => true),
    once(socket, 'error').then(() => false),
  ]).catch(() => false);
  socket.destroy();
  return opened;
};
