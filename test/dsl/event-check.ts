import { expect } from 'vitest';
import type { DomainEvent, EventDefinition, EventFamily } from '../../src/platform/kernel/event.ts';

/**
 * Throws for an event that no reader of these families would get: one of another type, or with data that the present
 * schema of its type refuses or changes. Types cannot tell a UUID from another text, or an unknown field from a known one.
 */
export function eventCheck(families: readonly EventFamily[]): (event: DomainEvent) => void {
  const definitions = new Map<string, EventDefinition>(families.flatMap(({ definitions: all }) => Object.entries(all)));
  return ({ type, data }) => {
    const definition = definitions.get(type);
    if (!definition) throw new Error(`${type} is no event of these families`);
    const { success, data: read, error } = definition.schema.safeParse(data);
    if (!success) throw new Error(`${type} is not as its schema says: ${error.message}`);
    expect(data, `${type} holds what its schema knows, and nothing else`).toEqual(read);
  };
}
