import { pemBlocks } from './pem.ts';

/** Larger than any device certificate; larger input is not parsed. */
const LARGEST_PRESENTED = 16 * 1024;

/**
 * The certificate that a peer sent: DER from a TLS socket (`getPeerCertificate().raw`), or PEM with exactly one
 * certificate.
 */
export function presentedDer(presented: string | Uint8Array): Buffer | undefined {
  if (presented.length > LARGEST_PRESENTED) return undefined;
  if (typeof presented !== 'string') return Buffer.from(presented.buffer, presented.byteOffset, presented.byteLength);
  const blocks = pemBlocks(presented, 'CERTIFICATE');
  return blocks?.length === 1 ? blocks[0] : undefined;
}
