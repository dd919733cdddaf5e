import type { QueryClient } from '@tanstack/react-query';
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Navigate,
  Outlet,
} from '@tanstack/react-router';
import type { CurrentSession } from './api-types.ts';
import { dayAt, FIRST_PERIOD, lastDays } from './days.ts';
import { readFilters, readStatus } from './filters.ts';
import { attentionQuery, hasPartner, paymentsQuery, sessionQuery, statisticsQuery } from './queries.ts';
import { LATE_STATUSES, PAYOUT_STATUSES, REFUND_STATUSES } from './statuses.ts';
import { JoinPage } from './ui/join.tsx';
import { NotFound } from './ui/not-found.tsx';
import { usePagesSeen } from './ui/pages.ts';
import { Shell } from './ui/shell.tsx';
import { SignInPage } from './ui/sign-in.tsx';

interface RouterContext {
  readonly client: QueryClient;
  /** The gateway's time when it rendered the document. */
  readonly nowMs: number;
}

const root = createRootRouteWithContext<RouterContext>()({ component: Outlet, notFoundComponent: NotFound });
const join = createRoute({ getParentRoute: () => root, path: '/join', component: JoinPage });
const signIn = createRoute({ getParentRoute: () => root, path: '/sign-in', component: SignInPage });
const shell = createRoute({ getParentRoute: () => root, id: 'shell', component: Shell });
const HomePage = lazyRouteComponent(() => import('./pages/home.tsx'), 'HomePage');
const home = createRoute({
  getParentRoute: () => shell,
  path: '/',
  component: FirstPage,
  loader: ({ context: { client, nowMs } }) =>
    ahead(client, () => {
      void client.prefetchQuery(statisticsQuery(lastDays(FIRST_PERIOD, dayAt(nowMs))[0]));
      void client.prefetchQuery(attentionQuery);
    }),
});
const payments = createRoute({
  getParentRoute: () => shell,
  path: '/payments',
  validateSearch: readFilters,
  component: lazyRouteComponent(() => import('./pages/payments.tsx'), 'PaymentsPage'),
  // Loads the rows when the page opens. The filters are not declared as dependencies of the loader, because a change would then
  // replace the route's match. The page itself loads the rows after a change of the filters.
  loader: ({ context: { client }, location: { search } }) =>
    ahead(client, () => void client.prefetchInfiniteQuery(paymentsQuery(readFilters({ ...search })))),
});
const payment = createRoute({
  getParentRoute: () => shell,
  path: '/payments/$merchantId/$paymentId',
  component: lazyRouteComponent(() => import('./pages/payment.tsx'), 'PaymentPage'),
});
const merchants = createRoute({
  getParentRoute: () => shell,
  path: '/merchants',
  component: lazyRouteComponent(() => import('./pages/merchants.tsx'), 'MerchantsPage'),
});
const merchant = createRoute({
  getParentRoute: () => shell,
  path: '/merchants/$merchantId',
  component: lazyRouteComponent(() => import('./pages/merchant.tsx'), 'MerchantPage'),
});
const acceptedAssets = createRoute({
  getParentRoute: () => shell,
  path: '/accepted-assets',
  component: lazyRouteComponent(() => import('./pages/accepted-assets.tsx'), 'AcceptedAssetsPage'),
});
const links = createRoute({
  getParentRoute: () => shell,
  path: '/links',
  component: lazyRouteComponent(() => import('./pages/links.tsx'), 'LinksPage'),
});
const webhooks = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks',
  component: lazyRouteComponent(() => import('./pages/webhooks.tsx'), 'WebhooksPage'),
});
const webhook = createRoute({
  getParentRoute: () => shell,
  path: '/webhooks/$endpointId',
  component: lazyRouteComponent(() => import('./pages/webhook.tsx'), 'WebhookPage'),
});
const keys = createRoute({
  getParentRoute: () => shell,
  path: '/developers',
  component: lazyRouteComponent(() => import('./pages/keys.tsx'), 'KeysPage'),
});
const events = createRoute({
  getParentRoute: () => shell,
  path: '/developers/events',
  component: lazyRouteComponent(() => import('./pages/events.tsx'), 'EventsPage'),
});
const requests = createRoute({
  getParentRoute: () => shell,
  path: '/developers/requests',
  component: lazyRouteComponent(() => import('./pages/requests.tsx'), 'RequestsPage'),
});
const refunds = createRoute({
  getParentRoute: () => shell,
  path: '/refunds',
  validateSearch: (search) => readStatus(search, REFUND_STATUSES),
  component: lazyRouteComponent(() => import('./pages/refunds.tsx'), 'RefundsPage'),
});
const lateMoney = createRoute({
  getParentRoute: () => shell,
  path: '/late-money',
  validateSearch: (search) => readStatus(search, LATE_STATUSES),
  component: lazyRouteComponent(() => import('./pages/late-money.tsx'), 'LateMoneyPage'),
});
const payouts = createRoute({
  getParentRoute: () => shell,
  path: '/payouts',
  validateSearch: (search) => readStatus(search, PAYOUT_STATUSES),
  component: lazyRouteComponent(() => import('./pages/payouts.tsx'), 'PayoutsPage'),
});
const operator = createRoute({
  getParentRoute: () => shell,
  path: '/operator',
  component: lazyRouteComponent(() => import('./pages/operator.tsx'), 'OperatorPage'),
});
const examination = createRoute({
  getParentRoute: () => shell,
  path: '/operator/examination',
  component: lazyRouteComponent(() => import('./pages/examination.tsx'), 'ExaminationPage'),
});
const team = createRoute({
  getParentRoute: () => shell,
  path: '/team',
  component: lazyRouteComponent(() => import('./pages/team.tsx'), 'TeamPage'),
});
const auditLog = createRoute({
  getParentRoute: () => shell,
  path: '/team/audit-log',
  component: lazyRouteComponent(() => import('./pages/audit-log.tsx'), 'AuditLogPage'),
});
const account = createRoute({
  getParentRoute: () => shell,
  path: '/account',
  component: lazyRouteComponent(() => import('./pages/account.tsx'), 'AccountPage'),
});

const routeTree = root.addChildren([
  join,
  signIn,
  shell.addChildren([
    home,
    payments,
    payment,
    links,
    merchants,
    merchant,
    acceptedAssets,
    webhooks,
    webhook,
    team,
    auditLog,
    account,
    keys,
    events,
    requests,
    refunds,
    lateMoney,
    payouts,
    operator,
    examination,
  ]),
]);

/** Loads a page's data while its code is loaded, if the person may read payments and has chosen a partner. */
function ahead(client: QueryClient, ask: () => void): void {
  const askIfAllowed = (session: CurrentSession) => {
    if (session.rights.includes('payments:read') && hasPartner(session)) ask();
  };
  void client.ensureQueryData(sessionQuery).then(askIfAllowed, () => {});
}

function FirstPage() {
  const [first] = usePagesSeen();
  if (first?.to === '/') return <HomePage />;
  return <Navigate to={first?.to ?? '/account'} replace />;
}

export function makeRouter(context: RouterContext) {
  return createRouter({
    routeTree,
    context,
    basepath: '/dashboard',
    defaultPreload: 'intent',
    scrollRestoration: true,
    // Plain text instead of the router's JSON, for readable URLs.
    parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
    stringifySearch: (search) => {
      const given = Object.entries(search).filter(([, value]) => typeof value === 'string' && value !== '');
      return given.length === 0 ? '' : `?${new URLSearchParams(given as [string, string][])}`;
    },
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof makeRouter>;
  }
}
