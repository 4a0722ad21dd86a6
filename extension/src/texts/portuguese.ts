import type { Texts } from './english.ts';

/** Brazilian Portuguese. */
export const PORTUGUESE: Texts = {
  languageTag: 'pt-BR',
  description: 'Acelera downloads distantes: uma cadeia de conexões curtas em vez de uma única longa.',
  you: 'você',
  origin: 'origem',
  actionOf: '{action}: {name}',

  stateReady: 'Pronto. Downloads distantes passam por depósitos onde isso é mais rápido.',
  stateRunning: 'Downloads por depósitos agora: {count}',
  stateOff: 'Desligado. Todos os downloads vêm diretamente.',
  stateNotYet: 'Nada é desviado antes de você dizer sim.',
  stateNoMaster: 'Falta um passo: o Longhaul precisa de um mestre.',
  stateNoAccess: 'O navegador não deixa o Longhaul ver todos os downloads.',
  stateTrouble: 'Um download espera por você.',

  on: 'Ligado',
  off: 'Desligado',
  switchName: 'Longhaul ligado',
  welcomeNotice:
    'Três telas curtas dizem o que o Longhaul faz e quem fica sabendo de quê. Depois você decide.',
  welcomeOpen: 'Começar',
  masterNotice: 'Informe o endereço do seu mestre, e os downloads distantes ficam mais rápidos.',
  masterSet: 'Informar o mestre',
  accessNotice:
    'Só com acesso a endereços da web o Longhaul pode ver o que um site diz de um arquivo e pedi-lo a um depósito. Onde não tem acesso, os downloads ficam como estão.',
  accessAllow: 'Permitir',
  options: 'Opções',

  runningTitle: 'Downloads em andamento',
  runningNone: 'Nada passa por depósitos agora.',
  doneTitle: 'Concluídos',
  leftTitle: 'Deixado com o navegador',
  clear: 'Limpar',
  progressOf: 'Progresso de {name}',
  amountOf: '{received} de {total} ({percent})',
  timeLeft: 'faltam cerca de {time}',
  nothingComes: 'nada chega no momento',
  beginning: 'começando',
  directlyAbout: 'diretamente, cerca de {time}',
  cameDirect: 'Nenhum depósito continua: ele vem diretamente.',
  choseDirect: 'Ele vem diretamente, como você escolheu.',
  chainNow: 'A cadeia, como os depósitos a medem agora',
  chainPlanned: 'A cadeia, como foi planejada',
  legSpoken: 'de {from} a {to}: {rate}, ida e volta {rtt}',
  legQuiet: 'de {from} a {to}: ida e volta {rtt}',
  slowestLeg: 'trecho mais lento',
  useDirect: 'Usar o direto',
  anotherPath: 'Outro caminho',
  showFile: 'Mostrar na pasta',
  tryNow: 'Tentar agora',
  goOn: 'Continuar',
  anewDirectly: 'Baixar de novo, diretamente',
  leadAnew: 'Neste navegador ele recomeça do primeiro byte. Pressione mais uma vez se quiser isso.',
  noOtherPath: 'Não há outro caminho agora. Continua como antes.',
  noDirect: 'O site não entrega esta versão do arquivo diretamente agora. Continua como antes.',
  doneIn: '{size} em {time}',
  donePredicted: 'previsto {time}',
  doneDirectly: 'No fim, veio diretamente.',
  directMeasured: 'O tempo de um download direto é calculado a partir de enlaces medidos.',
  directConfigured:
    'O tempo de um download direto é calculado a partir de enlaces que o operador do mestre informou.',
  directDerived: 'O tempo de um download direto é composto a partir de outros enlaces.',
  directAssumed: 'O tempo de um download direto é uma suposição: nada desse caminho foi medido.',
  veryLong: 'muito tempo',

  haltNetworkAway: 'A rede caiu.',
  haltBroke: 'A conexão se rompeu.',
  haltRefused: 'O depósito ou o site recusou.',
  haltBrowserEnded: 'O navegador foi encerrado.',
  haltNoRoom: 'Não há espaço no disco.',
  haltNoAccess: 'O navegador não pode gravar ali.',
  haltForbidden: 'O navegador, ou quem o administra, proíbe este arquivo.',
  haltNoWrite: 'O navegador não consegue gravar o arquivo.',
  haltSilent: 'Nada chegou durante um minuto.',
  haltOtherFile: 'Veio outra coisa no lugar dele, talvez de uma rede que pede login.',
  haltOtherVersion: 'O site tem outra versão do arquivo agora.',
  nextPaused: 'Pausado.',
  nextChecked:
    'Tudo já chegou: o navegador verifica o arquivo, ou pergunta na lista de downloads se deseja mantê-lo.',
  nextLost: 'Não foi possível começar de novo.',
  nextClick: 'O que está no disco fica guardado: continue com um clique.',
  nextStuck: 'O que está no disco fica guardado: libere espaço e continue com um clique.',
  nextTryIn: 'O que está no disco fica guardado; nova tentativa em {time}.',
  nextTryNow: 'O que está no disco fica guardado; nova tentativa agora.',

  cameDirectly: '{name} veio diretamente.',
  someDownload: 'O último download',
  said: 'A resposta foi: {words}',
  leftContainer:
    'Ele é de uma aba de contêiner, cujos cookies o Longhaul não tem. Abra o link em uma aba comum.',
  leftPrivateHost: 'O host dele é privado. Permita o host nas opções se os depósitos puderem buscar ali.',
  leftPrivateAddress:
    'O host dele, ou o seu proxy ou VPN, tem um endereço privado nesta rede. Permita o host nas opções se os depósitos puderem buscar ali.',
  leftSiteOff: 'Você não quer nada do site dele por depósitos. A lista de sites está nas opções.',
  leftSmall: 'Ele é pequeno e chega tão rápido quanto. O menor tamanho está nas opções.',
  leftNoAccess:
    'O Longhaul não pode acessar todos os sites, mestres e depósitos. Permita isso na janela da extensão.',
  leftUnseen: 'O navegador não mostrou como ele foi pedido. Use “Baixar pelo Longhaul” no menu do link.',
  leftPost: 'Ele responde a um formulário, que só pode ser enviado uma vez.',
  leftSavedAs:
    'Você escolheu onde salvar, e isso é respeitado. Use “Baixar pelo Longhaul” no menu do link para tê-lo na pasta de downloads.',
  leftPersonal: 'O site o fez só para você: os depósitos não têm o seu login.',
  leftEncoded: 'O site o comprime no caminho, então não poderia ser continuado.',
  leftNoRanges: 'O site não permite continuar downloads, então nada poderia ser reparado no caminho.',
  leftNoVersion:
    'O site não diz qual versão do arquivo é esta, então as partes não poderiam ser juntadas com segurança.',
  leftMasterSilent: 'O mestre não respondeu a tempo. Teste-o nas opções.',
  leftMasterRefused: 'O mestre recusou.',
  leftNoMasterThere: 'O que responde no endereço do mestre não é um mestre. Confira o endereço nas opções.',
  leftMasterElsewhere:
    'O mestre se identifica por um endereço diferente do que está nas opções. Teste-o lá para ver qual.',
  leftPlanUnfit: 'O plano do mestre levava a outro lugar e não foi seguido. Avise o operador do mestre.',
  leftDirectIsBest: 'Nenhuma cadeia de depósitos é mais rápida para ele. Não há nada a fazer.',
  leftInsecureChain:
    'A cadeia abriria mão da criptografia. O operador do mestre pode dar certificados aos depósitos.',
  leftDepotSilent: 'O depósito não respondeu a tempo. Outra tentativa pode achar um melhor.',
  leftDepotRefused: 'O depósito não conseguiu o arquivo.',
  leftDifferentFile: 'O depósito recebeu uma versão do arquivo diferente da do seu navegador.',
  leftFinished: 'Ele terminou antes.',
  leftWarned: 'O seu navegador alerta sobre ele.',
  leftNearlyDone: 'Ele estava quase pronto.',

  leftKeyHeld: 'Você segurou a tecla que deixa um download com o navegador. As opções dizem qual é.',
  leftKind: 'Você não quer arquivos desse tipo por depósitos. Os tipos estão nas opções.',
  leftNoRoom:
    'O navegador não tem espaço para guardá-lo na memória. Limpe a lista acima ou libere espaço no disco.',
  siteOn: 'Em {site}',
  siteUsual: 'conforme as regras',
  siteAlways: 'sempre por depósitos',
  siteNever: 'nunca',
  siteTunnel: 'por um túnel',
  leftTunnel: 'O site dele passa por um túnel: o próprio navegador faz o pedido.',
  leftNotHttps: 'Só https pode passar por um túnel.',
  leftSocks: 'O site dele passa pelo seu proxy SOCKS.',
  leftDepotTaken:
    'Os depósitos perto de você são túneis de outros sites. No Chromium cada um serve a um só até o navegador ser fechado.',
  leftSystemProxy:
    'O seu sistema parece definir um proxy. No Chromium um túnel o tiraria de todos os sites; por isso não há nenhum.',
  tunnelNow: 'Por um túnel agora: {chain}. Os depósitos não veem nada do conteúdo.',
  tunnelDirect: 'Diretamente agora. {why}',
  tunnelNotAllowed:
    'O navegador não deixa o Longhaul definir um proxy: sites com túnel vêm diretamente. Escolha de novo para que ele pergunte outra vez.',
  optionsTunnel: 'Por um túnel, com o seu login',
  optionsTunnelHint:
    'Tudo de um site assim vem por depósitos, com o seu login, onde isso é mais rápido. É preciso https. Se um depósito ou o mestre estiver fora, o site vem diretamente. Um site por linha.',
  optionsTunnelWho:
    'Por um túnel, o navegador e o site cifram como sempre: os depósitos veem o nome do site, quanto passa e o seu endereço de rede, mas nem conteúdo, nem cookies, nem endereços de páginas. O seu mestre fica sabendo o nome do site. O site vê o endereço de um depósito em vez do seu.',
  optionsTunnelHostWide:
    'O Chromium tem uma só configuração de proxy para todos os sites: enquanto um túnel existe, nenhum site usa os proxies do sistema. O primeiro pedido a um site vem diretamente.',
  slowChanged: 'O caminho estava lento e foi trocado.',
  slowNoOther: 'Por um tempo foi mais lento que o previsto, e não se achou caminho mais rápido.',
  choseElsewhere: 'Foi levado por outro caminho, como você escolheu.',
  wentOn: 'Vezes em que o caminho se rompeu e ele continuou: {count}.',
  beganAgain: 'Vezes em que recomeçou do primeiro byte: {count}.',
  optionsNever: 'Nunca para estes sites',
  optionsNeverHint:
    'Os downloads deles ficam sempre com o navegador, com todos os nomes abaixo deles. Um site por linha; o painel do botão também põe aqui o site da aba atual.',
  optionsAlways: 'Sempre para estes sites',
  optionsAlwaysHint:
    'Os arquivos deles são levados qualquer que seja o tipo e o tamanho, se uma cadeia for mais rápida. Um site por linha.',
  optionsKinds: 'Tipos de arquivo',
  kindsAll: 'todos os tipos',
  kindsOnly: 'somente estes',
  kindsExcept: 'todos menos estes',
  kindsHint: 'As terminações dos nomes, separadas por espaços: {examples}.',
  kindsList: 'Terminações',
  optionsKey: 'Tecla que deixa um download com o navegador',
  optionsKeyHint:
    'Pressionada durante o clique. Para percebê-la, um pequeno script roda nas páginas; ele informa as teclas pressionadas e nada mais.',
  keyNone: 'nenhuma',
  optionsWaste: 'Nenhum byte desperdiçado',
  optionsWasteHint:
    'Os pedidos são levados aos depósitos antes que o site envie algo. Nomes em atributos “download” se perdem, e no Chromium nada pode ser comparado com uma resposta do site.',
  optionsWasteOn: 'Levar os pedidos aos depósitos imediatamente',
  shareTellHint:
    'O mestre planeja melhor, também para você, quando sabe o que seus planos realmente deram. Ele recebe o número, os bytes e os segundos de cada download que planejou, nenhum endereço. Até quatro depósitos que ele indica veem a que distância você está.',
  shareTell: 'Contar ao mestre como foram seus planos',
  optionsNoRoom: 'O navegador não tem mais espaço: nada foi alterado.',
  importTooLarge: 'Este arquivo é maior do que qualquer lista de regras. Nada foi alterado.',
  importNotJson: 'Este arquivo não está íntegro ou não é uma lista de regras. Nada foi alterado.',
  importNotRules: 'Este arquivo não tem regras do Longhaul. Nada foi alterado.',
  importNewer: 'Uma versão mais nova do Longhaul gravou este arquivo. Nada foi alterado.',
  importBadEntry: 'Neste arquivo algo não é o que deveria ser: {place}. Nada foi alterado.',
  problemDamaged:
    'Parte das configurações guardadas estava danificada e agora tem os valores padrão. Confira e salve.',
  problemNewer:
    'Uma versão mais nova do Longhaul gravou estas configurações: o que esta não conhece fica guardado.',
  mistakeSite: '“{line}” não é um site. Escreva o host, por exemplo downloads.example.org.',
  mistakeKind: '“{kind}” não é a terminação de um nome de arquivo. Escreva por exemplo iso ou tar.gz.',

  menuThrough: 'Baixar pelo Longhaul',
  menuDirectly: 'Baixar diretamente',

  noticeFailedTitle: 'Um download espera por você',
  noticeFailed: '{name}: {why}',
  noticeRescuedTitle: 'Levado até o fim',
  noticeRescued: '{name} está completo, embora o caminho tenha se rompido.',
  badgeTrouble: 'Longhaul: um download espera por você',

  optionsTitle: 'Opções do Longhaul',
  optionsMaster: 'Mestre',
  optionsMasterHint:
    'O endereço do serviço que planeja os seus downloads, dado a você pelo operador dele. Ele fica sabendo do endereço de todo download grande o bastante, então use um em que você confia.',
  optionsTest: 'Testar',
  optionsAsking: 'Perguntando…',
  optionsSmallest: 'Menor tamanho',
  optionsSmallestHint: 'Arquivos menores chegam tão rápido quanto sem depósitos.',
  optionsPrivate: 'Hosts privados permitidos',
  optionsPrivateHint:
    'Downloads de hosts privados e de intranets ficam como estão, seus endereços não são informados ao mestre, e nenhum depósito busca ali, a menos que o host esteja aqui. Um por linha: {examples}.',
  optionsSave: 'Salvar',
  optionsSaved: 'Salvo',
  optionsFile: 'Regras em arquivo',
  optionsFileHint:
    'Quais downloads são levados, para guardar ou compartilhar: sites, tipos, tamanho e tecla. O mestre e os hosts privados não vão junto. O que é lido substitui o que está aqui.',
  optionsExport: 'Gravar arquivo',
  optionsImport: 'Ler arquivo',
  importDone: 'Lido. As regras agora são as do arquivo.',
  mistakeMaster: 'Informe o host, por exemplo master.example.org, e nada depois dele.',
  mistakeSmallest: 'Informe um número de megabytes, 0 ou mais.',
  mistakePrivate: '“{line}” não é um host. Escreva nome, *.nome ou endereço, com :porta se for preciso.',

  shareTitle: 'O que é enviado a quem',
  shareNothing: 'A quem faz o Longhaul: nada. Não há conta, e ninguém conta você.',
  shareMaster:
    'Ao seu mestre: o endereço e o tamanho de cada download grande o bastante e não marcado como seu, quando começa. Nada sobre outras páginas.',
  shareDepots:
    'Aos depósitos de um plano: o endereço desse download e o seu endereço de rede. Eles repassam o arquivo, então veem o conteúdo, também com https.',
  shareNever:
    'A nenhum deles: cookies, logins, formulários, janelas privativas e o que um site fez só para você. Esses downloads vêm diretamente.',
  shareHere:
    'Guardado só neste navegador: estas opções, a lista de downloads abaixo e por que o último foi deixado como estava.',

  historyTitle: 'O que isso trouxe',
  historyEmpty: 'Nenhum download passou por depósitos ainda.',
  historyTotals: 'Downloads por depósitos desde {date}: {count}, ao todo {size}.',
  historySaved:
    'Os que correram sem pausa levaram {time}; diretamente teriam levado cerca de {direct}, como o mestre previu. Ninguém mediu isso.',
  historyErase: 'Apagar a lista',
  historyColumnFile: 'Arquivo',
  historyColumnWhen: 'Quando',
  historyColumnSize: 'Tamanho',
  historyColumnTook: 'Levou',
  historyColumnDirect: 'Diretamente, previsto',
  historyBound: 'A lista guarda os últimos {count} downloads; as somas continuam.',

  testServes: 'Este mestre atende você: respondeu em {time}.',
  testNoDepots:
    'Este mestre atende você, mas não tem depósito agora: os downloads ficam diretos até que tenha.',
  testSomeOrigins:
    'Este mestre responde em {time}. De onde você está, ele atende só os sites que o operador dele indicou; peça a ele se faltar algum.',
  testNote: 'O operador diz: {note}',
  testName: 'Ele se chama {name}.',
  testDepotsUp: 'Depósitos prontos agora: {up} de {all}.',
  testBadAddress:
    'Isto não é o endereço de um mestre: informe o host, por exemplo master.example.org, e nada depois dele.',
  testUnreachable: 'Nada responde ali: confira o endereço e se o mestre está no ar.',
  testNoMaster: 'Algo responde ali, mas não como um mestre: confira o endereço.',
  testElsewhere: 'Este mestre se chama {address}: use esse endereço, ou os links dele não são seguidos.',
  testRefused: 'O mestre recusou: {message}',

  welcomeTitle: 'Boas-vindas ao Longhaul',
  welcomeStep: '{step} de {steps}',
  welcomeNext: 'Avançar',
  welcomeBack: 'Voltar',
  welcomeWhat: 'Downloads distantes, mais rápidos',
  welcomeWhatWhy:
    'Um download que vem de longe é lento porque cada perda no longo caminho é reparada a partir da outra ponta. O Longhaul o leva por depósitos: uma cadeia de conexões curtas, cada uma rápida de reparar.',
  welcomeWhatWhen:
    'Isso só acontece onde se prevê que a cadeia seja mais rápida. Todo o resto fica como está, e quando algo se rompe, o que está no disco fica guardado.',
  welcomeWho: 'Quem fica sabendo de quê',
  welcomeWhere: 'O seu mestre e o seu sim',
  welcomeWhereWhy:
    'O seu operador, a sua universidade ou alguém que você conhece mantém um mestre e deu a você o endereço. Você pode trocá-lo a qualquer momento.',
  welcomeAccess:
    'O navegador vai pedir que você permita o acesso a endereços da web: só assim o Longhaul pode ver o que um site diz de um arquivo e pedi-lo a um depósito. Ele não lê páginas.',
  welcomeYes: 'Sim, começar',
  welcomeNotNow: 'Agora não',
  welcomeDone: 'O Longhaul está pronto. O botão dele mostra o que ele faz; as opções mudam tudo.',
  welcomeLater: 'Nada é desviado. O botão do Longhaul traz você de volta para cá.',
};
