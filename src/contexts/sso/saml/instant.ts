import { refuseSaml } from './refused.ts';
import { attribute, type XmlElement } from './xml.ts';

/** The instant in an attribute, in epoch milliseconds. Core §1.3.3: always UTC. Throws `SamlRefused`. */
export function instantIn(element: XmlElement, name: string): number {
  const written = attribute(element, name) ?? '';
  const epoch = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(written) ? Date.parse(written) : Number.NaN;
  return Number.isNaN(epoch) ? refuseSaml('malformed', `${name} is not an instant`) : epoch;
}
