import { startFlow } from './flow.ts';
import type { PageState, RefundPage } from './page-state.ts';
import type { Actions, PhonePanel } from './ui/actions.ts';
import type { App } from './ui/app.tsx';

const nothing = () => {};

/** The actions of the page before its script runs. The buttons then do nothing. */
const NO_ACTIONS: Actions = {
  connect: nothing,
  choose: nothing,
  pay: nothing,
  send: nothing,
  sendToken: nothing,
  checkAgain: nothing,
  back: nothing,
  cancel: nothing,
  togglePhone: nothing,
  copy: nothing,
  leave: nothing,
  stay: nothing,
};

export const CLOSED_PHONE: PhonePanel = { isOpen: false, qr: null, lastWallet: null };

/** The first props of the page, equal on the server and in the browser, as hydration requires. */
export function firstProps(page: Exclude<PageState, RefundPage>): Parameters<typeof App>[0] {
  if (page.kind !== 'payment') return { page };
  return {
    page,
    flow: startFlow(page.payment, page.paidInto),
    nowMs: page.nowMs,
    secondsToReturn: null,
    phone: CLOSED_PHONE,
    rareSteps: null,
    copied: null,
    actions: NO_ACTIONS,
  };
}
