import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { endpointName, type Endpoint, type ServerSettings } from './connection-string.ts';
import { grpc } from './client-runtime.ts';

/** Timeout for the diagnosis of one host. */
const HOST_MS = 2_000;

/** The problem of a host, as part of a sentence. Undefined: none found. */
type Finding = string | undefined;

/**
 * Explains in one sentence why a call to the server failed: which setting, which host, what to do. Checks each host
 * separately, since the call's error says only that there is no connection. Never contains the password.
 */
export async function diagnoseConnection(settings: ServerSettings, error: unknown): Promise<string> {
  const { code, type, message } = innermost(error) as { code?: unknown; type?: unknown; message: string };
  if (code === grpc.status.UNAUTHENTICATED)
    return `EVENTSTORE_URL: ${hostsOf(settings)} rejects the user or the password: correct user:password@ in it`;
  if (code === grpc.status.PERMISSION_DENIED || type === 'access-denied') return refused(settings);
  const findings = await Promise.all(settings.hosts.map((host) => lookAt(host, settings)));
  const wrong = findings.filter((finding) => finding !== undefined);
  if (wrong.length === settings.hosts.length) return `EVENTSTORE_URL: ${wrong[0]}`;
  if (settings.discovers)
    return `EVENTSTORE_URL: ${hostsOf(settings)} is reachable, but no node is the leader: start the missing nodes, so that the cluster has a majority (${message})`;
  return `EVENTSTORE_URL: ${hostsOf(settings)} accepts connections but does not serve requests: see the log of the server (${message})`;
}

/** The user is known but lacks rights. */
function refused(settings: ServerSettings): string {
  const who = settings.user
    ? `the user ${settings.user.username}`
    : settings.clientCertificate
      ? 'the user of the certificate'
      : undefined;
  if (!who) return `EVENTSTORE_URL: ${hostsOf(settings)} requires a user: write user:password@ before the host`;
  if (!settings.tls)
    return `EVENTSTORE_URL: ${hostsOf(settings)} requires a user, which is only sent over TLS: remove tls=false`;
  return `EVENTSTORE_URL: ${who} lacks rights at ${hostsOf(settings)}: run "castellan eventstore rights" to list the missing rights, and add --grant to set them`;
}

const hostsOf = ({ hosts }: ServerSettings): string => hosts.map(endpointName).join(', ');

function innermost(error: unknown): unknown {
  let found = error;
  for (let depth = 0; depth < 5 && found instanceof Error && found.cause !== undefined; depth += 1) found = found.cause;
  return found;
}

async function lookAt(host: Endpoint, settings: ServerSettings): Promise<Finding> {
  const reached = await settled(connectTcp({ host: host.address, port: host.port }), 'connect');
  if (reached !== 'well') return unreachable(host, reached);
  return settings.tls ? lookAtTls(host, settings) : lookAtPlain(host);
}

function unreachable(host: Endpoint, failure: Failure): string {
  if (failure.code === 'ENOTFOUND' || failure.code === 'EAI_AGAIN')
    return `the host name ${host.address} cannot be resolved: correct it`;
  if (failure.code === 'ECONNREFUSED')
    return `nothing listens at ${endpointName(host)}: correct host and port, or start the server`;
  return `${endpointName(host)} does not respond (${failure.code}): correct host and port, or let the connection through the firewall`;
}

const ALTERNATIVE_NAME = 'ERR_TLS_CERT_ALTNAME_INVALID';
const EXPIRED = new Set(['CERT_HAS_EXPIRED', 'CERT_NOT_YET_VALID']);
const UNTRUSTED = new Set([
  'SELF_SIGNED_CERT_IN_CHAIN',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_SIGNATURE_FAILURE',
]);

async function lookAtTls(host: Endpoint, settings: ServerSettings): Promise<Finding> {
  const shaken = await settled(shakeHands(host, settings, true), 'secureConnect');
  if (shaken === 'well') return undefined;
  const { code } = shaken;
  if (code === ALTERNATIVE_NAME)
    return `the certificate of ${endpointName(host)} is not for the name ${host.address}: use a name that is in the certificate`;
  if (EXPIRED.has(code))
    return `the certificate of ${endpointName(host)} has expired or is not valid yet: renew it, and check both clocks`;
  if (UNTRUSTED.has(code)) {
    return `the certificate of ${endpointName(host)} is not from ${settings.authorities ? 'the authority of tlsCAFile' : 'a public authority'}: name the file of its authority with tlsCAFile=`;
  }
  if (/ALERT/.test(code))
    return `${endpointName(host)} refuses the certificate of this client (${code}): correct userCertFile and userKeyFile`;
  return `${endpointName(host)} does not speak TLS (${code}): set up TLS there, or write tls=false for a server without it`;
}

/** A server with TLS closes a connection without TLS. */
async function lookAtPlain(host: Endpoint): Promise<Finding> {
  const shaken = await settled(shakeHands(host, undefined, false), 'secureConnect');
  return shaken === 'well' ? `${endpointName(host)} speaks TLS: remove tls=false` : undefined;
}

function shakeHands(
  { address, port }: Endpoint,
  settings: ServerSettings | undefined,
  rejectUnauthorized: boolean,
): TLSSocket {
  return connectTls({
    host: address,
    port,
    ALPNProtocols: ['h2'],
    rejectUnauthorized,
    // SNI allows no IP address (RFC 6066 section 3).
    ...(/^[\d.]+$/.test(address) ? {} : { servername: address }),
    ...(settings?.authorities ? { ca: settings.authorities } : {}),
    ...(settings?.clientCertificate
      ? { cert: settings.clientCertificate.certificate, key: settings.clientCertificate.privateKey }
      : {}),
  });
}

interface Failure {
  readonly code: string;
}

/** Tries the connection and closes it again. */
function settled(socket: Socket, event: 'connect' | 'secureConnect'): Promise<'well' | Failure> {
  return new Promise((resolve) => {
    const end = (outcome: 'well' | Failure) => {
      socket.destroy();
      resolve(outcome);
    };
    socket.setTimeout(HOST_MS, () => end({ code: 'ETIMEDOUT' }));
    socket.on('error', (error: NodeJS.ErrnoException) => end({ code: error.code ?? error.message }));
    socket.on('close', () => end({ code: 'ECONNRESET' }));
    socket.once(event, () => end('well'));
  });
}
