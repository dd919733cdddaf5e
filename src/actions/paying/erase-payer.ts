import { deletePastFailures } from '../../store/chain/payer-failures.ts';
import { deleteReceiptsOf, deleteReceiptsTo } from '../../store/mail/mails.ts';
import { type ErasedTo, eraseWalletNames, type PayerKey } from '../../store/payments/payers.ts';
import { appendAudit } from '../../store/plumbing/audit-log.ts';
import { type CommandDeps, command } from '../command.ts';

/** The numbers of erased rows. */
export interface Erased {
  readonly payments: number;
  readonly walletNames: number;
  readonly receiptMails: number;
  readonly pastFailures: number;
}

/** The number of payments in one database transaction. */
const PAGE = 200;

/**
 * Erases everything about a paying account that the books do not need. It can be repeated at any time: each page is a database
 * transaction with an audit entry.
 */
export async function eraseAccount(
  deps: CommandDeps,
  { payer, actor }: { readonly payer: PayerKey; readonly actor: string },
): Promise<Erased> {
  const pages: Erased[] = [];
  let next: ErasedTo | undefined;
  do {
    const after = next;
    const page = await command(deps, async (tx, now) => {
      const { paymentIds, erased, next } = await eraseWalletNames(tx, payer, { after, limit: PAGE });
      const done: Erased = {
        payments: paymentIds.length,
        walletNames: erased,
        receiptMails: await deleteReceiptsOf(tx, paymentIds),
        pastFailures: await deletePastFailures(tx, { ...payer, at: now }),
      };
      const subject = `${payer.network}:${payer.address}`;
      await appendAudit(tx, { at: now, actor, action: 'payer.erased', subject, detail: { ...done } });
      return { done, next };
    });
    pages.push(page.done);
    next = page.next;
  } while (next !== undefined);
  const sum = (name: keyof Erased) => pages.reduce((total, page) => total + page[name], 0);
  return {
    payments: sum('payments'),
    walletNames: sum('walletNames'),
    receiptMails: sum('receiptMails'),
    pastFailures: sum('pastFailures'),
  };
}

/** Erases an e-mail address that got receipts. The audit log does not name the address, because its entries are kept for good. */
export function eraseEmail(
  deps: CommandDeps,
  { email, actor }: { readonly email: string; readonly actor: string },
): Promise<number> {
  return command(deps, async (tx, at) => {
    const receiptMails = await deleteReceiptsTo(tx, email);
    await appendAudit(tx, { at, actor, action: 'payer.erased', subject: 'e-mail', detail: { receiptMails } });
    return receiptMails;
  });
}
