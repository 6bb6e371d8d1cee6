import { tbsCertificate } from './certificate-writing.ts';
import { embed, sequence } from './der.ts';
import type { Element } from './der-reader.ts';
import { template } from './der-template.ts';
import { UUID_LENGTH, deviceUri } from './device-name.ts';
import { distinguishedName } from './distinguished-name.ts';
import {
  KEY_USAGE,
  authorityKeyIdentifier,
  basicConstraintsOfLeaf,
  extendedKeyUsage,
  keyUsage,
  subjectAltName,
  subjectKeyIdentifier,
  uriName,
} from './extension-writing.ts';
import type { CertificateIssuer } from './certificate-issuer.ts';
import { KEY_IDENTIFIER_LENGTH } from './key-identifier.ts';
import { P256_POINT_LENGTH } from './key-pair.ts';
import { OID } from './object-identifiers.ts';
import { SERIAL_LENGTH } from './serial-number.ts';

const text = (bytes: Buffer): string => bytes.toString('latin1');

/** The common parts of all device certificates of one issuer, with gaps for the rest. */
const layOut = (issuer: CertificateIssuer, notBefore: Element, notAfter: Element) =>
  template(
    {
      serial: SERIAL_LENGTH,
      notBefore: notBefore.content.length,
      notAfter: notAfter.content.length,
      tenantId: UUID_LENGTH,
      deviceId: UUID_LENGTH,
      publicPoint: P256_POINT_LENGTH,
      keyIdentifier: KEY_IDENTIFIER_LENGTH,
    },
    (gap) =>
      tbsCertificate({
        algorithm: issuer.algorithm,
        serial: gap.serial,
        issuer: embed(issuer.certificate.subject),
        validity: sequence(
          embed({ tag: notBefore.tag, content: gap.notBefore }),
          embed({ tag: notAfter.tag, content: gap.notAfter }),
        ),
        subject: distinguishedName({ organization: text(gap.tenantId), commonName: text(gap.deviceId) }),
        publicPoint: gap.publicPoint,
        extensions: [
          basicConstraintsOfLeaf(),
          keyUsage(KEY_USAGE.digitalSignature),
          extendedKeyUsage(OID.clientAuth),
          subjectAltName(uriName(deviceUri(text(gap.tenantId), text(gap.deviceId)))),
          subjectKeyIdentifier(gap.keyIdentifier),
          authorityKeyIdentifier(issuer.keyIdentifier),
        ],
      }),
  );

type Layout = ReturnType<typeof layOut>;

// A layout is for one form of either date (UTCTime or GeneralizedTime), and lives as long as its issuer.
const layouts = new WeakMap<CertificateIssuer, Map<string, Layout>>();

/**
 * The signed part of a device certificate, to be filled in. Only the forms of `notBefore` and `notAfter` matter here.
 */
export function deviceLayout(issuer: CertificateIssuer, notBefore: Element, notAfter: Element): Layout {
  const known = layouts.get(issuer) ?? new Map<string, Layout>();
  layouts.set(issuer, known);
  const forms = `${notBefore.tag} ${notAfter.tag}`;
  const layout = known.get(forms) ?? layOut(issuer, notBefore, notAfter);
  known.set(forms, layout);
  return layout;
}
