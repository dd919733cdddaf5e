import type { Words } from './en.ts';

export const pt: Words = {
  greeting: 'Olá, {name},',
  invitationSubject: 'O seu convite para {site}',
  invitationText: 'foi convidado para o painel de {site}. Inicie sessão com esta ligação, até {time}:',
  linkSubject: 'A sua ligação de acesso a {site}',
  linkText: 'esta é a sua ligação para iniciar sessão no painel de {site}. É válida até {time}:',
  linkOnce: 'A ligação funciona uma só vez. Não a reencaminhe: quem a abrir inicia sessão no seu nome.',
  unexpected: 'Se não esperava este e-mail, pode ignorá-lo.',
  receiptSubject: 'O seu recibo de {merchant}',
  receiptText: 'Pagou {amount} a {merchant}.',
  testPayment: 'Foi um pagamento de teste. Não foi movimentado dinheiro real.',
  reference: 'Referência',
  date: 'Data',
  paidWith: 'Pago com',
  network: 'Rede',
  account: 'Da conta',
  transaction: 'Transação',
  items: 'Artigos',
  refunds: 'Reembolsos',
  lateMoney: 'Chegou mais dinheiro',
  lateText:
    'Não contou para este pagamento. {merchant} foi informado e pode devolvê-lo: peça a {merchant} e indique sua conta.',
  lateReturning: 'Não contou para este pagamento. A devolução foi solicitada.',
  lateReturned: 'Não contou para este pagamento e foi devolvido.',
  late: 'Chegou tarde',
  overpaid: 'Mais do que o pedido',
  underpaid: 'Menos do que o pedido',
  paid_twice: 'Pago uma segunda vez',
  wrong_token: 'Outro token',
  wrong_network: 'Outra rede',
  pageLink: 'O seu recibo como página, para imprimir ou guardar em PDF:',
  verify:
    'Para verificar este recibo, procure a transação em qualquer explorador de blocos de {network}. Ela moveu {amount} da sua conta e contém a sua ordem assinada {commitment}.',
  receiptUnexpected:
    'Alguém introduziu este endereço na página do pagamento. Se não foi você, pode ignorar este e-mail.',
};
