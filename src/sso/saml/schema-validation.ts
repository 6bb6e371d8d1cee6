import { readFileSync } from 'node:fs';
import { validateXML, type XMLFileInfo } from 'xmllint-wasm';
import { FailureError, unavailable } from '../../kernel/failure.ts';
import { refuse, SamlRefused } from './refused.ts';

const schemaFile = (fileName: string): XMLFileInfo => ({ fileName, contents: readFileSync(new URL(`schemas/${fileName}`, import.meta.url), 'utf8') });

/** The imports of the first are resolved from the others: nothing is fetched. */
const protocol = schemaFile('saml-schema-protocol-2.0.xsd');
const imported = ['saml-schema-assertion-2.0.xsd', 'xmldsig-core-schema.xsd', 'xenc-schema.xsd'].map(schemaFile);

/** Each runs some 50 ms in a thread of its own: more at a time would take the cores from everything else. */
const AT_ONCE = 2;
const MOST_WAITING = 32;
let running = 0;
const waiting: (() => void)[] = [];

/** Holds a response against the schemas of OASIS and the W3C. Throws `SamlRefused`. */
export async function validateSchema(xml: string): Promise<void> {
  if (running < AT_ONCE) running += 1;
  else {
    if (waiting.length >= MOST_WAITING) throw new FailureError(unavailable());
    // Whoever leaves hands its place over without giving it up.
    await new Promise<void>((resolve) => waiting.push(resolve));
  }
  try {
    const { valid } = await validateXML({ xml: { fileName: 'response.xml', contents: xml }, schema: [protocol], preload: imported });
    if (!valid) refuse('schema', 'the response is not valid');
  } catch (error) {
    if (error instanceof SamlRefused) throw error;
    refuse('schema', 'the response could not be validated');
  } finally {
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}
