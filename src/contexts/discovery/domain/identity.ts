import { v5 } from 'uuid';

/** RFC 9562 §5.5 namespaces: what was discovered has an id that is a function of its host, so that a rebuild gives the same one. */
const ENDPOINTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a03';
const AUTH_ENDPOINTS = '6f2c1d7e-9c0b-4f55-8d43-0f6f1c1f7a04';

export const endpointId = (tenantId: string, domain: string): string => v5(`${tenantId}|${domain}`, ENDPOINTS);
export const authEndpointId = (tenantId: string, domain: string): string => v5(`${tenantId}|${domain}`, AUTH_ENDPOINTS);
