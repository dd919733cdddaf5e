import type { Words } from './en.ts';

export const ja: Words = {
  greeting: '{name} 様',
  invitationSubject: '{site} への招待',
  invitationText: '{site} のダッシュボードに招待されました。{time} までに、このリンクからログインしてください。',
  linkSubject: '{site} のログイン用リンク',
  linkText: '{site} のダッシュボードにログインするためのリンクです。有効期限は {time} です。',
  linkOnce: 'このリンクは一度だけ使えます。転送しないでください。開いた人があなたとしてログインします。',
  unexpected: 'このメールに心当たりがない場合は、無視してください。',
  receiptSubject: '{merchant} の領収書',
  receiptText: '{merchant} に {amount} をお支払いいただきました。',
  testPayment: 'これはテスト決済です。実際のお金は動いていません。',
  reference: '参照番号',
  date: '日時',
  paidWith: 'お支払い',
  network: 'ネットワーク',
  account: '支払元アカウント',
  transaction: 'トランザクション',
  items: '明細',
  refunds: '返金',
  lateMoney: 'ほかにも届いたお金があります',
  lateText:
    'この支払いには数えられませんでした。{merchant}に通知済みで、返金できます。{merchant}に連絡し、アカウントを伝えてください。',
  lateReturning: 'この支払いには数えられませんでした。返金の手続き中です。',
  lateReturned: 'この支払いには数えられず、返金されました。',
  late: '期限後に到着',
  overpaid: '請求額を超えた分',
  underpaid: '請求額に不足',
  paid_twice: '二重の支払い',
  wrong_token: '別のトークン',
  wrong_network: '別のネットワーク',
  pageLink: '領収書のページ（印刷・PDF 保存用）:',
  verify:
    'この領収書を確認するには、{network} のブロックエクスプローラーでトランザクションを検索してください。あなたのアカウントから {amount} が送られ、署名した注文 {commitment} が含まれています。',
  receiptUnexpected:
    'お支払いのページでこのアドレスが入力されました。心当たりがない場合は、このメールを無視してください。',
};
