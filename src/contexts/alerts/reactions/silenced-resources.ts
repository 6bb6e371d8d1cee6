import { resources } from '../../resources.ts';
import type { tenantSettings } from '../../settings/domain/tenant-settings.resource.ts';
import type { RecordedEvent } from '../../../platform/kernel/event.ts';
import type { Effect } from '../../../platform/kernel/reaction.ts';
import { capitalized, snakeCase } from '../../../platform/resources/names.ts';
import { aboutWatch } from './account-control-alert.ts';

const watching = resources.flatMap(({ declared, events }) =>
  declared.watch === undefined ? [] : [{ noun: declared.noun, title: declared.watch.title, events }],
);

/**
 * The families of declared records that keep a watch. Typed as one of them: a family of any type would hide those of the
 * reaction's other handlers.
 */
export const watchFamilies = watching.map(({ events }) => events as unknown as typeof tenantSettings.events);

type Handler = (event: RecordedEvent) => readonly { effects: readonly Effect[] }[];

/** A change that silences the watch of a declared record raises an alert. The declaration says which ones do. */
export const silencedResources: Readonly<Record<string, Handler>> = Object.fromEntries(
  watching.flatMap(({ noun, title, events }) => {
    const name = capitalized(noun);
    const raise: Handler = (event) => {
      const { isSilenced, id } = event.data as { isSilenced?: boolean; id?: string };
      return isSilenced === true
        ? aboutWatch(event, `${snakeCase(noun)}_silenced`, title, id === undefined ? {} : { recordId: id })
        : [];
    };
    return [`${name}Updated`, `${name}Deleted`]
      .filter((type) => type in events.definitions)
      .map((type) => [type, raise]);
  }),
);
