import { readFileSync } from 'node:fs';
import { validateXML, type XMLFileInfo } from 'xmllint-wasm';
import { FairLimiter } from '../../../platform/fairness/fair-limiter.ts';
import type { TenantId } from '../../../platform/kernel/ids.ts';
import { SamlRefused } from './refused.ts';

const schemaFile = (fileName: string): XMLFileInfo => ({
  fileName,
  contents: readFileSync(new URL(`schemas/${fileName}`, import.meta.url), 'utf8'),
});

/** The first schema's imports are resolved from the others: nothing is fetched. */
const protocol = schemaFile('saml-schema-protocol-2.0.xsd');
const imported = ['saml-schema-assertion-2.0.xsd', 'xmldsig-core-schema.xsd', 'xenc-schema.xsd'].map(schemaFile);

/**
 * Each run takes about 50 ms in its own thread, nearly all of it for the schemas: more at once would take the cores
 * from other work. Only signed responses get here, so a long queue is a busy morning, not an attack.
 */
const SHARES = { atOnce: 2, perKey: 1, waiting: 512, waitingPerKey: 256, waitMs: 20_000 };
/** Documents of one run. */
const TOGETHER = 32;

interface Waiting {
  readonly xml: string;
  readonly settle: (refusal?: Error) => void;
}

/** Validates responses against the schemas of OASIS and the W3C, those of one tenant that wait together in one run. */
export class SchemaValidation {
  readonly #turns = new FairLimiter({ what: 'SAML validation', ...SHARES });
  readonly #waiting = new Map<TenantId, Waiting[]>();

  /** Throws `SamlRefused` and `TooBusy`. */
  validate(tenantId: TenantId, xml: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const document: Waiting = { xml, settle: (refusal) => (refusal ? reject(refusal) : resolve()) };
      this.#waiting.set(tenantId, [...(this.#waiting.get(tenantId) ?? []), document]);
      this.#turns
        .run(tenantId, () => this.#validateWaiting(tenantId))
        // No turn for this document; one of another may have taken it along, and settles it.
        .catch((error: unknown) => {
          if (this.#withdraw(tenantId, document)) reject(error as Error);
        });
    });
  }

  async #validateWaiting(tenantId: TenantId): Promise<void> {
    const waiting = this.#waiting.get(tenantId) ?? [];
    const documents = waiting.slice(0, TOGETHER);
    this.#keep(tenantId, waiting.slice(TOGETHER));
    if (documents.length === 0) return;
    if (await areValid(documents)) for (const { settle } of documents) settle();
    else if (documents.length === 1) documents[0]!.settle(new SamlRefused('schema', 'the response is not valid'));
    else
      for (const document of documents)
        document.settle(
          (await areValid([document])) ? undefined : new SamlRefused('schema', 'the response is not valid'),
        );
  }

  #withdraw(tenantId: TenantId, document: Waiting): boolean {
    const waiting = this.#waiting.get(tenantId) ?? [];
    this.#keep(
      tenantId,
      waiting.filter((other) => other !== document),
    );
    return waiting.includes(document);
  }

  #keep(tenantId: TenantId, waiting: Waiting[]): void {
    if (waiting.length > 0) this.#waiting.set(tenantId, waiting);
    else this.#waiting.delete(tenantId);
  }
}

/** A document that cannot be validated is not valid. Never throws. */
async function areValid(documents: readonly Waiting[]): Promise<boolean> {
  try {
    const xml = documents.map((document, index) => ({ fileName: `response-${index}.xml`, contents: document.xml }));
    const { valid } = await validateXML({ xml, schema: [protocol], preload: imported });
    return valid;
  } catch {
    return false;
  }
}
