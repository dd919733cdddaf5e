/**
 * The roles of a node. `api`: HTTP routes and pages. `relay`: sends transactions. `watch`: reads the chains and decides payments.
 * `jobs`: everything else, such as expiries, payouts, positions of events and the books.
 */
export const ROLES = ['api', 'relay', 'watch', 'jobs'] as const;

export type Role = (typeof ROLES)[number];
