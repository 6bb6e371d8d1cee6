/** Request headers that a route names in `takes`. */
export const requestHeaderWords = {
  'X-Tenant-ID': 'The id of the tenant',
  'X-Enrollment-Secret': "The tenant's secret for agents",
} as const;
export type RequestHeaderName = keyof typeof requestHeaderWords;

/** `or-in-body`: needed unless the body names the same in a field of its own. */
type RequestHeaderNeed = 'required' | 'optional' | 'or-in-body';

/** Whether each header is needed, by name. */
export type RequestHeaderNeeds = Readonly<Partial<Record<RequestHeaderName, RequestHeaderNeed>>>;
