import type { Invariant } from './invariant.ts';

/** The promises about payment links and mails. */
export const SELLING_INVARIANTS: readonly Invariant[] = [
  {
    name: 'stock is never oversold',
    promise:
      'Of a link with a stock, no more payments are under way or paid than there are pieces. After a restore there may be more, if each has its piece from the backup, or was paid on the chain.',
    when: 'always',
    about: ['payments'],
    check: async ({ sql, isRestored, piecesInBackup, isPaidOnChain }) => {
      const links = await sql<{ problem: string; payments: string[] }[]>`
        select l.id || ' has a stock of ' || l.stock || ', and ' || count(*) || ' payments have a piece' as problem,
          json_agg(p.id order by p.id) as payments
        from payment_links l join payments p on p.link_id = l.id
        where p.status in ('processing', 'succeeded')
        group by l.id, l.stock having count(*) > l.stock order by l.id`;
      for (const { problem, payments } of links) {
        if (!isRestored) return problem;
        for (const id of payments) {
          if (!piecesInBackup.has(id) && !(await isPaidOnChain(id))) return `${problem}; nothing has paid ${id}`;
        }
      }
      return undefined;
    },
  },
  {
    name: 'pieces follow payments',
    promise: 'A payment of a link has its piece exactly while it is under way, and from its success on.',
    when: 'always',
    about: ['payments'],
    find: (sql) => sql`
          select p.id || ' is ' || p.status || ' and has ' || case when t.payment_id is null then 'no piece' else 'a piece' end
            as problem
          from payments p left join payment_link_pieces t on t.payment_id = p.id
          where p.link_id is not null and (p.status in ('processing', 'succeeded')) <> (t.payment_id is not null)
          order by p.id limit 1`,
  },
  {
    name: 'mails come to their end',
    promise: 'A stored mail is sent or given up.',
    when: 'atEnd',
    check: async ({ sql }) => {
      const [pending] = await sql<{ subject: string }[]>`
        select subject from mails where status = 'pending' order by id limit 1`;
      return pending && `the mail about ${pending.subject} is still pending`;
    },
  },
  {
    name: 'mails are stored',
    promise: 'A mail whose request was answered is stored.',
    when: 'atEnd',
    check: async ({ sql, receipts }) => {
      const rows = await sql<{ subject: string; recipient: string }[]>`select subject, recipient from mails`;
      const missing = receipts.find(
        ({ paymentId, recipient }) => !rows.some((row) => row.subject === paymentId && row.recipient === recipient),
      );
      return missing && `the receipt of ${missing.paymentId} to ${missing.recipient} is not stored`;
    },
  },
  {
    name: 'mails are sent as stored',
    promise:
      'Only stored mails are sent, one for each attempt at most, and one that counts as sent was accepted by the server.',
    when: 'atEnd',
    check: async ({ sql, mailServer }) => {
      const rows = await sql<{ id: string; status: string; claim: number }[]>`
        select id, status, claim::int as claim from mails`;
      const claims = new Map(rows.map(({ id, claim }) => [id, claim]));
      const over = [...mailServer.accepted].find(([id, times]) => times > (claims.get(id) ?? 0));
      if (over !== undefined)
        return `${over[0]} was accepted ${over[1]} times, with ${claims.get(over[0]) ?? 0} attempts`;
      const unsent = rows.find(({ id, status }) => status === 'sent' && !mailServer.accepted.has(id));
      return unsent && `${unsent.id} counts as sent, and the server has not got it`;
    },
  },
];
