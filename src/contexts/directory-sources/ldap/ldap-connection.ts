import type { Socket } from 'node:net';
import { isIP } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { OutboundRefused } from '../../../platform/outbound/address-guard.ts';
import type { GuardedConnect } from '../../../platform/outbound/guarded-connection.ts';
import { DirectoryFailed } from '../domain/directory-reader.ts';
import { FramedSocket, MessageFramer } from './framed-socket.ts';
import { whenAborted } from '../../../platform/kernel/when-aborted.ts';

export interface LdapAddress {
  readonly host: string;
  readonly port: number;
  readonly useTls: boolean;
  /** TLS begins after a request on the plain port (RFC 4511 §4.14). Without it, TLS begins at once. */
  readonly startTls: boolean;
  readonly caCertificate: string | null;
}

const CONNECT_MS = 10_000;

/** ExtendedRequest for 1.3.6.1.4.1.1466.20037, message 1. */
const START_TLS = Buffer.concat([
  Buffer.from('301d02010177188016', 'hex'),
  Buffer.from('1.3.6.1.4.1.1466.20037', 'latin1'),
]);
/** LDAPMessage { 1, ExtendedResponse { resultCode success … } }, up to the result code, with any form of lengths. */
const LENGTH = '(?:[0-7].|81..|82.{4}|83.{6}|84.{8})';
const STARTED = new RegExp(`^30${LENGTH}02010178${LENGTH}0a0100`);

/** Opens a connection, with TLS before the first byte that matters. The certificate must name the host. */
export async function connectToLdap(address: LdapAddress, connect: GuardedConnect): Promise<FramedSocket> {
  const deadline = AbortSignal.timeout(CONNECT_MS);
  let socket: Socket;
  try {
    socket = await connect(address.host, address.port, deadline);
  } catch (error) {
    if (error instanceof OutboundRefused) throw new DirectoryFailed(error.message, { isLasting: true, cause: error });
    throw new DirectoryFailed('the directory cannot be reached', { cause: error });
  }
  const giveUp = () => void socket.destroy(new Error('took too long'));
  const forget = whenAborted(deadline, giveUp);
  try {
    if (!address.useTls) return new FramedSocket(socket);
    if (address.startTls) await requestTls(socket);
    return new FramedSocket(await secured(socket, address));
  } catch (error) {
    socket.destroy();
    throw error;
  } finally {
    forget();
  }
}

/** Anything after the response and before TLS was not protected: it ends the connection (RFC 4511 §4.14.3.1). */
function requestTls(socket: Socket): Promise<void> {
  const framer = new MessageFramer();
  return new Promise((resolve, reject) => {
    const settle = (outcome: () => void) => {
      socket.removeAllListeners('data').removeAllListeners('error').removeAllListeners('close');
      outcome();
    };
    const refuse = (reason: string) => settle(() => reject(new DirectoryFailed(reason)));
    socket.on('error', () => refuse('the connection to the directory was lost'));
    socket.on('close', () => refuse('the directory closed the connection'));
    socket.on('data', (chunk: Buffer) => {
      try {
        const messages = [...framer.push(chunk)];
        if (messages.length === 0) return;
        const isClean = messages.length === 1 && framer.isEmpty;
        if (!isClean || !STARTED.test(messages[0]!.subarray(0, 32).toString('hex')))
          return refuse('the directory refuses StartTLS');
        socket.pause();
        settle(resolve);
      } catch {
        refuse('the server does not speak LDAP');
      }
    });
    socket.write(START_TLS);
  });
}

function secured(socket: Socket, { host, caCertificate }: LdapAddress): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const secure = connectTls({
      socket,
      host,
      ...(isIP(host) === 0 ? { servername: host } : {}),
      ...(caCertificate === null ? {} : { ca: caCertificate }),
    });
    const fail = (error: Error & { code?: string }) =>
      reject(new DirectoryFailed(tlsReason(error.code), { cause: error }));
    secure.once('error', fail);
    secure.once('close', () => fail(new Error('closed')));
    secure.once('secureConnect', () => {
      secure.removeAllListeners('error').removeAllListeners('close');
      resolve(secure);
    });
  });
}

const tlsReason = (code = ''): string =>
  /CERT|SELF_SIGNED|UNABLE_TO|ALTNAME|HOSTNAME/.test(code)
    ? "the directory's certificate is not trusted"
    : 'a TLS connection to the directory cannot be opened';
