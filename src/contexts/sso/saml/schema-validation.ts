import { readFileSync } from 'node:fs';
import { validateXML, type XMLFileInfo } from 'xmllint-wasm';
import { FairLimiter } from '../../../platform/fairness/fair-limiter.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { refuseSaml, SamlRefused } from './refused.ts';

const schemaFile = (fileName: string): XMLFileInfo => ({
  fileName,
  contents: readFileSync(new URL(`schemas/${fileName}`, import.meta.url), 'utf8'),
});

/** The first schema's imports are resolved from the others: nothing is fetched. */
const protocol = schemaFile('saml-schema-protocol-2.0.xsd');
const imported = ['saml-schema-assertion-2.0.xsd', 'xmldsig-core-schema.xsd', 'xenc-schema.xsd'].map(schemaFile);

/**
 * Each takes about 50 ms in its own thread: more at once would take the cores from other work. Only signed responses get
 * here, so a long queue is a busy morning, not an attack.
 */
const validations = new FairLimiter({
  what: 'SAML validation',
  atOnce: 2,
  perKey: 2,
  waiting: 512,
  waitingPerKey: 256,
  waitMs: 20_000,
});

/**
 * Validates a response against the schemas of OASIS and the W3C, in the tenant's turn. Throws `SamlRefused` and
 * `TooBusy`.
 */
export const validateSchema = (tenantId: TenantId, xml: string): Promise<void> =>
  validations.run(tenantId, () => validate(xml));

async function validate(xml: string): Promise<void> {
  try {
    const { valid } = await validateXML({
      xml: { fileName: 'response.xml', contents: xml },
      schema: [protocol],
      preload: imported,
    });
    if (!valid) refuseSaml('schema', 'the response is not valid');
  } catch (error) {
    if (error instanceof SamlRefused) throw error;
    refuseSaml('schema', 'the response could not be validated');
  }
}
