import type { X509Certificate } from 'node:crypto';
import { keptPair } from '../../contexts/certificates/server-certificate.ts';
import { serverWeakness } from '../../contexts/certificates/server-weakness.ts';
import { namesOf } from '../../platform/pki/certificate-details.ts';
import { fine, finding, type Examined } from './examined.ts';

const EXPIRY_DAYS = 30;
const DAY_MS = 86_400_000;

/** The certificate in DATA_DIR/tls, which the listener uses unless an administrator installed another one. */
export function examineCertificate(dataDir: string): Examined {
  const kept = keptPair(dataDir);
  if (!kept) return fine('none in DATA_DIR/tls: a self-signed one is created');
  return examineValidity(kept.certificate, Date.now());
}

/** Clients refuse one that has ended, and one that has not begun: often the clock of this machine or of its authority is wrong. */
function examineValidity(certificate: X509Certificate, now: number): Examined {
  const [begins, ends] = [Date.parse(certificate.validFrom), Date.parse(certificate.validTo)];
  const name = nameOf(certificate);
  const weakness = serverWeakness(certificate);
  if (weakness !== undefined) return finding(`${name}: clients refuse it (${weakness}): use another one`);
  if (!Number.isFinite(begins) || !Number.isFinite(ends))
    return finding(`${name}: its dates cannot be read: replace it`);
  if (now > ends) return finding(`${name}, expired on ${day(ends)}: renew it`);
  if (now < begins)
    return finding(
      `${name}, not valid before ${day(begins)}: use one that is valid now, or correct the clock of this machine`,
    );
  const days = Math.floor((ends - now) / DAY_MS);
  const text = `${name}, valid for ${days} days`;
  return days < EXPIRY_DAYS ? finding(`${text}: renew it`) : fine(text);
}

const day = (time: number): string => new Date(time).toISOString().slice(0, 10);

/** Authorities also issue certificates without a subject: only the other names count for browsers. */
const nameOf = (certificate: X509Certificate): string =>
  namesOf(certificate).subject || (certificate.subjectAltName ?? 'a certificate without a name');
