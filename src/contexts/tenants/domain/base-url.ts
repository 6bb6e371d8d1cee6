import { baseAddressField } from '../../../platform/web-addresses/address-field.ts';

/** The URL at which browsers reach the service. Paths are appended to it. */
export const baseUrlField = baseAddressField();
