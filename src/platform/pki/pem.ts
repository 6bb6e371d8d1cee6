/** PEM as in RFC 7468: Base64 in lines of 64 characters, one label. */
export type PemLabel = 'CERTIFICATE' | 'CERTIFICATE REQUEST' | 'NEW CERTIFICATE REQUEST' | 'PRIVATE KEY' | 'X509 CRL';

const LINE = 64;

export function pem(label: PemLabel, der: Buffer): string {
  const base64 = der.toString('base64');
  let text = `-----BEGIN ${label}-----\n`;
  for (let start = 0; start < base64.length; start += LINE) text += `${base64.slice(start, start + LINE)}\n`;
  return `${text}-----END ${label}-----\n`;
}

const BLOCK = /-----BEGIN ([A-Z0-9 ]+)-----([A-Za-z0-9+/=\s]*)-----END \1-----/g;

/**
 * The content of every block with this label, in order. Text around blocks is allowed, as openssl writes some.
 * Undefined if any such block is not exact Base64 (stray characters, spare bits, no end): never a shorter list.
 */
export function pemBlocks(text: string, label: PemLabel): Buffer[] | undefined {
  const blocks: Buffer[] = [];
  for (const [, found, body = ''] of text.matchAll(BLOCK)) {
    if (found !== label) continue;
    const base64 = body.replace(/\s+/g, '');
    const der = Buffer.from(base64, 'base64');
    if (der.length === 0 || der.toString('base64') !== base64) return undefined;
    blocks.push(der);
  }
  const begun = text.split(`-----BEGIN ${label}-----`).length - 1;
  return blocks.length === begun ? blocks : undefined;
}

/** The first certificate of a text that was checked before; throws if there is none. */
export function firstCertificate(text: string): Buffer {
  const [der] = pemBlocks(text, 'CERTIFICATE') ?? [];
  if (!der) throw new TypeError('not a PEM certificate');
  return der;
}
