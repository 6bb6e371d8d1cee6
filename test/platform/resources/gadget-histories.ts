import { historiesOf } from '../../dsl/given.ts';
import { gadgets, gadgetSettings, gadgetUse } from './gadget.resource.ts';

/** The application does not know the events of the made-up resources: these are their `given`, `recorded` and `history`. */
export const { given, recorded, history } = historiesOf([gadgets.events, gadgetUse, gadgetSettings.events]);
