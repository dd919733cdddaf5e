/** The scopes of API keys. A key without a list of scopes may do everything. */
export const SCOPES = [
  'merchants:read',
  'merchants:write',
  'destinations:write',
  'payments:read',
  'payments:write',
  'refunds:write',
  'links:read',
  'links:write',
  'events:read',
  'webhooks',
  'gateway',
  'sandbox',
] as const;

export type Scope = (typeof SCOPES)[number];

export function isScope(text: string): text is Scope {
  return (SCOPES as readonly string[]).includes(text);
}
