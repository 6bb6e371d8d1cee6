import { connect as connectTcp, type Socket } from 'node:net';
import { connect as connectTls, type TLSSocket } from 'node:tls';
import { endpointName, type Endpoint, type ServerSettings } from './connection-string.ts';
import { grpc } from './client-runtime.ts';

/** Timeout for the diagnosis of one host. */
const HOST_MS = 2_000;

/** The problem of a host, as a sentence that begins with the setting to correct. Undefined: none found. */
type Finding = string | undefined;

/**
 * Explains in one sentence why a call to the server failed: which setting, which host, what to do. Checks each host
 * separately, since the call's error says only that there is no connection. Never contains the password.
 */
export async function diagnoseConnection(settings: ServerSettings, error: unknown): Promise<string> {
  const { code, type, message } = innermost(error) as { code?: unknown; type?: unknown; message: string };
  if (code === grpc.status.UNAUTHENTICATED) return rejected(settings);
  if (code === grpc.status.PERMISSION_DENIED || type === 'access-denied') return refused(settings);
  const findings = await Promise.all(settings.hosts.map((host) => lookAt(host, settings)));
  const wrong = findings.filter((finding) => finding !== undefined);
  if (wrong.length === settings.hosts.length) return wrong[0]!;
  const { url } = settings.givenBy;
  if (code === grpc.status.UNIMPLEMENTED) return `${url}: ${foreign(hostsOf(settings))}`;
  if (settings.discovers)
    return `${url}: ${hostsOf(settings)} is reachable, but no node is the leader: start the missing nodes, so that the cluster has a majority (${message})`;
  return `${url}: ${hostsOf(settings)} accepts connections but does not serve requests: see the log of the server, or correct the port (${message})`;
}

/** The user is unknown, or the password is another one. */
function rejected(settings: ServerSettings): string {
  const { url, password, administrator } = settings.givenBy;
  const what = `${hostsOf(settings)} rejects the user or the password`;
  if (administrator) return `${administrator}: ${what}: correct user:password in it`;
  if (password) return `${password}: ${what}: correct the password in it, or the user in ${url}`;
  return `${url}: ${what}: correct user:password@ in it`;
}

/** The user is known but lacks rights. */
function refused(settings: ServerSettings): string {
  const { url, administrator } = settings.givenBy;
  if (administrator)
    return `${administrator}: the user ${settings.user!.username} is no administrator of ${hostsOf(settings)}: set a user of the group $admins`;
  const who = settings.user
    ? `the user ${settings.user.username}`
    : settings.clientCertificate
      ? 'the user of the certificate'
      : undefined;
  if (!who) return `${url}: ${hostsOf(settings)} requires a user: write user:password@ before the host`;
  if (!settings.tls)
    return `${url}: ${hostsOf(settings)} requires a user, which is only sent over TLS: remove tls=false`;
  return `${url}: ${who} lacks rights at ${hostsOf(settings)}: run "castellan eventstore rights" to list the missing rights, and add --grant to set them`;
}

const foreign = (place: string): string =>
  `what listens at ${place} is not EventStoreDB, or speaks another protocol: correct the port`;

const hostsOf = ({ hosts }: ServerSettings): string => hosts.map(endpointName).join(', ');

function innermost(error: unknown): unknown {
  let found = error;
  for (let depth = 0; depth < 5 && found instanceof Error && found.cause !== undefined; depth += 1) found = found.cause;
  return found;
}

async function lookAt(host: Endpoint, settings: ServerSettings): Promise<Finding> {
  const reached = await settled(connectTcp({ host: host.address, port: host.port }), 'connect');
  if (reached !== 'well') return `${settings.givenBy.url}: ${unreachable(host, reached)}`;
  return settings.tls ? lookAtTls(host, settings) : lookAtPlain(host, settings);
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
  const { url } = settings.givenBy;
  const shaken = await settled(shakeHands(host, settings, true), 'secureConnect');
  if (shaken === 'well')
    return (await isForeign(shakeHands(host, settings, true))) ? `${url}: ${foreign(endpointName(host))}` : undefined;
  const { code } = shaken;
  if (UNTRUSTED.has(code)) return untrusted(host, settings);
  return `${url}: ${await withoutTls(host, code)}`;
}

function untrusted(host: Endpoint, { authorities, givenBy }: ServerSettings): string {
  const what = `the certificate of ${endpointName(host)} is not from`;
  if (givenBy.authority)
    return `${givenBy.authority}: ${what} the authority in it: put the certificate of its authority there`;
  return authorities
    ? `${givenBy.url}: ${what} the authority of tlsCAFile: name the file of its authority with tlsCAFile=`
    : `${givenBy.url}: ${what} a public authority: name the file of its authority with tlsCAFile= or EVENTSTORE_CA_FILE`;
}

/** Why there is no connection with TLS, as part of a sentence. */
async function withoutTls(host: Endpoint, code: string): Promise<string> {
  if (code === ALTERNATIVE_NAME)
    return `the certificate of ${endpointName(host)} is not for the name ${host.address}: use a name that is in the certificate`;
  if (EXPIRED.has(code))
    return `the certificate of ${endpointName(host)} has expired or is not valid yet: renew it, and check both clocks`;
  // It has TLS, but not for HTTP/2.
  if (/NO_APPLICATION_PROTOCOL/.test(code)) return foreign(endpointName(host));
  if (/ALERT/.test(code))
    return `${endpointName(host)} refuses the certificate of this client (${code}): correct userCertFile and userKeyFile`;
  if (await isForeign(connectTcp({ host: host.address, port: host.port }))) return foreign(endpointName(host));
  return `${endpointName(host)} does not speak TLS (${code}): set up TLS there, or write tls=false for a server without it`;
}

/** A server with TLS closes a connection without TLS. */
async function lookAtPlain(host: Endpoint, { givenBy: { url } }: ServerSettings): Promise<Finding> {
  const [shaken, isOther] = await Promise.all([
    settled(shakeHands(host, undefined, false), 'secureConnect'),
    isForeign(connectTcp({ host: host.address, port: host.port })),
  ]);
  if (shaken === 'well') return `${url}: ${endpointName(host)} speaks TLS: remove tls=false`;
  return isOther ? `${url}: ${foreign(endpointName(host))}` : undefined;
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

/** How a client begins HTTP/2: the preface, and an empty frame of settings (RFC 9113 section 3.4). */
const PREFACE = Buffer.concat([
  Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'),
  Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]),
]);
const FRAME_HEADER = 9;
/** The offset of a frame's type, and the type with which a server must begin. */
const TYPE_AT = 3;
const SETTINGS = 4;

/** Whether what answers is not HTTP/2. Silence does not tell: it may be a server in trouble. */
function isForeign(socket: Socket): Promise<boolean> {
  return new Promise((resolve) => {
    let answer = Buffer.alloc(0);
    const end = () => {
      socket.destroy();
      resolve(answer.length > 0 && (answer.length < FRAME_HEADER || answer[TYPE_AT] !== SETTINGS));
    };
    socket.setTimeout(HOST_MS, end);
    socket.on('error', end);
    socket.on('close', end);
    socket.on('data', (chunk: Buffer) => {
      answer = Buffer.concat([answer, chunk]);
      if (answer.length >= FRAME_HEADER) end();
    });
    socket.write(PREFACE);
  });
}
