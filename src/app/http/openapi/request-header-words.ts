/** Request headers that a route names in `takes`. */
export const takenHeaderWords = {
  'X-Tenant-ID': 'The id of the tenant',
  'X-Enrollment-Secret': "The tenant's secret for agents",
} as const;
export type RequestHeaderName = keyof typeof takenHeaderWords;

/** Whether each header is needed, by name. */
export type RequestHeaderNeeds = Readonly<Partial<Record<RequestHeaderName, 'required' | 'optional'>>>;
