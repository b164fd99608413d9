/** The operations of the gateway itself that `allow` and `deny` of a token know, by key, with their routes. */
export const ownOperations = {
  readAudit: 'GET /audit',
  freeze: 'PUT /freeze',
  unfreeze: 'DELETE /freeze',
} as const;

export type OwnOperation = keyof typeof ownOperations;
