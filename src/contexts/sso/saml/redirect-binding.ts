import { createPrivateKey, sign } from 'node:crypto';
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { refuseSaml } from './refused.ts';
import { isSignatureOf, isStrongSignature } from './signature-algorithms.ts';
import { decodedText } from './xml-guard.ts';

const SIGNATURE_METHODS: Readonly<Record<string, string>> = {
  rsa: 'http://www.w3.org/2001/04/xmldsig-more#rsa-sha256',
  ec: 'http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256',
};

export interface RedirectMessage {
  readonly parameter: 'SAMLRequest' | 'SAMLResponse';
  readonly xml: string;
  readonly relayState: string | undefined;
  /** PEM; the message is signed if it is set. */
  readonly signingKey: string | undefined;
}

/** The address that a browser is redirected to with a message (HTTP-Redirect binding, Bindings §3.4). */
export function redirectAddress(target: string, { parameter, xml, relayState, signingKey }: RedirectMessage): string {
  const parameters = [
    [parameter, deflateRawSync(xml).toString('base64')],
    ...(relayState === undefined ? [] : [['RelayState', relayState]]),
  ];
  const address = new URL(target);
  const query = signingKey ? signed(parameters, signingKey) : encoded(parameters);
  address.search = [address.search.slice(1), query].filter(Boolean).join('&');
  return address.href;
}

/** The signature covers the octets as sent (§3.4.4.1). XML signatures concatenate r and s. */
function signed(parameters: readonly (readonly string[])[], signingKey: string): string {
  const key = createPrivateKey(signingKey);
  const method = SIGNATURE_METHODS[key.asymmetricKeyType ?? ''];
  if (!method) throw new TypeError('requests are signed with RSA or EC keys');
  const octets = encoded([...parameters, ['SigAlg', method]]);
  const signature = sign('sha256', Buffer.from(octets), { key, dsaEncoding: 'ieee-p1363' }).toString('base64');
  return `${octets}&${encoded([['Signature', signature]])}`;
}

const encoded = (parameters: readonly (readonly string[])[]): string =>
  parameters.map(([name, value]) => `${name}=${encodeURIComponent(value!)}`).join('&');

const MAX_MESSAGE_BYTES = 64 * 1024;

/**
 * The XML of a message that a provider sent in an address, once its signature is right. `query` is the query as it was
 * received: the signature covers its octets. Throws `SamlRefused`.
 */
export function signedRedirectMessage(
  parameter: RedirectMessage['parameter'],
  query: string,
  certificatesPem: readonly string[],
): string {
  const [message, relayState, algorithm, signature] = [parameter, 'RelayState', 'SigAlg', 'Signature'].map((name) =>
    rawParameter(query, name),
  );
  if (message === undefined) refuseSaml('structure', 'there is no message');
  if (algorithm === undefined || signature === undefined) refuseSaml('signature', 'the message is not signed');
  const octets = Buffer.from(
    `${parameter}=${message}${relayState === undefined ? '' : `&RelayState=${relayState}`}&SigAlg=${algorithm}`,
  );
  const value = Buffer.from(decodedPart(signature), 'base64');
  const method = decodedPart(algorithm);
  if (!isStrongSignature(method)) refuseSaml('weak_algorithm', 'signed with another algorithm');
  if (!certificatesPem.some((certificate) => isSignatureOf(method, octets, value, certificate)))
    refuseSaml('signature', 'the signature is wrong');
  return inflated(decodedPart(message));
}

/** The same without a look at the signature: for a response to what is refused. Throws `SamlRefused`. */
export const unverifiedRedirectMessage = (parameter: RedirectMessage['parameter'], query: string): string =>
  inflated(decodedPart(rawParameter(query, parameter) ?? ''));

function rawParameter(query: string, name: string): string | undefined {
  const [value, ...others] = query.split('&').filter((part) => part.startsWith(`${name}=`));
  return others.length > 0 ? refuseSaml('structure', `${name} is repeated`) : value?.slice(name.length + 1);
}

function decodedPart(part: string): string {
  try {
    return decodeURIComponent(part.replaceAll('+', '%20'));
  } catch {
    return refuseSaml('malformed', 'is not percent-encoded');
  }
}

function inflated(base64: string): string {
  let octets: Buffer;
  try {
    octets = inflateRawSync(Buffer.from(base64, 'base64'), { maxOutputLength: MAX_MESSAGE_BYTES });
  } catch {
    return refuseSaml('malformed', 'is not deflated, or too large');
  }
  return decodedText(octets);
}
