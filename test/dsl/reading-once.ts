import type { AllStreamPage, EventStore } from '../../src/platform/eventstore/port.ts';

/**
 * The store, which reads each full page of the log once, however many read models are folded from it. A page that is
 * not full is read again, because the log may have grown.
 */
export function readingOnce(store: EventStore): EventStore {
  const pages = new Map<string, AllStreamPage>();
  const readAll: EventStore['readAll'] = async (after, most, ...rest) => {
    const key = `${after} ${most}`;
    const known = pages.get(key);
    if (known) return known;
    const page = await store.readAll(after, most, ...rest);
    if (page.events.length === most) pages.set(key, page);
    return page;
  };
  return new Proxy(store, { get: (target, name) => (name === 'readAll' ? readAll : bound(target, name)) });
}

function bound(target: EventStore, name: string | symbol): unknown {
  const value: unknown = Reflect.get(target, name);
  return typeof value === 'function' ? value.bind(target) : value;
}
