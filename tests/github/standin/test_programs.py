"""Documents of the shapes that published programs send to GitHub are answered.

Each program is known by its public source; the documents are written anew, with the fields and
arguments that it asks for.
"""

from __future__ import annotations

import pytest
from graphql import parse, validate

from gqlnb import github

REPOSITORY = 'repository(owner: "torvalds", name: "linux")'
PAGE = "pageInfo { hasNextPage hasPreviousPage startCursor endCursor }"
SIZES = "languages(first: 10, orderBy: {field: SIZE, direction: DESC})"


def search(fields, kind="REPOSITORY", query="stars:>1000", more=""):
    """Return a search for objects with some fields."""
    return f"""{{ search(query: "{query}", type: {kind}, first: 3) {{
      repositoryCount {PAGE} {more} edges {{ cursor node {{ {fields} }} }} }} }}"""


def repository(fields):
    """Return a document about one repository."""
    return f"{{ {REPOSITORY} {{ {fields} }} }}"


def user(fields):
    """Return a document about one user."""
    return f'{{ user(login: "torvalds") {{ {fields} }} }}'


PROGRAMS = {
    "EvanLi/Github-Ranking": search(
        """... on Repository { name url forkCount stargazers { totalCount } owner { login }
        description pushedAt primaryLanguage { name } openIssues: issues(states: OPEN) {
        totalCount } }"""
    ),
    "pelmers/github-repository-metadata": search(
        f"""... on Repository {{ owner {{ login }} name stargazerCount forkCount isFork isArchived
        watchers {{ totalCount }} {SIZES} {{ totalCount edges {{ size node {{ name }} }}
        totalSize }}
        repositoryTopics(first: 100) {{ nodes {{ topic {{ name stargazerCount }} }} }} diskUsage
        issues {{ totalCount }} pullRequests {{ totalCount }} description primaryLanguage {{ name }}
        createdAt pushedAt defaultBranchRef {{ target {{ ... on Commit {{ history {{ totalCount
        }} }} }} }} licenseInfo {{ name }} codeOfConduct {{ name }} forkingAllowed
        assignableUsers {{ totalCount }} parent {{ nameWithOwner }} }}"""
    ),
    "sourcegraph": search(
        """... on Repository { id databaseId nameWithOwner description url isPrivate isFork
        isArchived isLocked isDisabled viewerPermission stargazerCount forkCount diskUsage
        repositoryTopics(first: 100) { nodes { topic { name } } } }"""
    ),
    "raycast": search(
        """... on Repository { id nameWithOwner name description url mergeCommitAllowed
        squashMergeAllowed rebaseMergeAllowed owner { login avatarUrl } issues(states: OPEN) {
        totalCount } pullRequests(states: OPEN) { totalCount } stargazerCount viewerHasStarred
        primaryLanguage { id name color } hasIssuesEnabled hasWikiEnabled hasProjectsEnabled
        hasDiscussionsEnabled latestRelease { tagName url } updatedAt pushedAt }"""
    ),
    "chidimo/Github-search": search(
        """... on Repository { id url nameWithOwner updatedAt description stargazerCount
        licenseInfo { name } primaryLanguage { name } }"""
    ),
    "Eomm/notion-board": search(
        """... on Repository { name description owner { login } stargazerCount url isArchived isFork
        issues(states: OPEN, labels: ["good first issue"]) { totalCount } pullRequests(states: OPEN)
        { totalCount } repositoryTopics(first: 100) { nodes { ... on RepositoryTopic {
        topic { name } } } } pkg: object(expression: "HEAD:package.json") { ... on Blob {
        text } } }"""
    ),
    "PlatziMaster/platzi-challenges-app": repository(
        """name url description homepageUrl pullRequests(first: 100) { totalCount nodes {
        author { avatarUrl url login } } }"""
    ),
    "danielhrc/lab-xp": search(
        """... on Repository { nameWithOwner url createdAt pullRequests(states: MERGED) {
        totalCount } updatedAt releases { totalCount } issues { totalCount }
        closed: issues(states: CLOSED) { totalCount } primaryLanguage { name } }"""
    ),
    "seart-group/ghs": repository(
        """id name isFork isTemplate isMirror isLocked isDisabled homepageUrl diskUsage
        stargazerCount forkCount createdAt pushedAt updatedAt branches: refs(refPrefix:
        "refs/heads/")
        { totalCount } releases { totalCount } labels(first: 20) { nodes { name } }
        defaultBranchRef { name target { ... on Commit { oid committedDate history { totalCount }
        } } } licenseInfo { spdxId name } watchers { totalCount }"""
    ),
    "ossf/criticality_score": repository(
        """name url homepageUrl createdAt updatedAt description primaryLanguage { name }
        licenseInfo { name } isMirror watchers { totalCount } stargazerCount
        defaultBranchRef { target { ... on Commit { lastcommits: history(first: 1) { edges { node {
        authoredDate committedDate committer { user { login company } } } } } recent: history(
        since: "2026-01-01T00:00:00Z") { totalCount } } } } tags: refs(refPrefix: "refs/tags/") {
        totalCount } closed: issues(filterBy: {since: "2026-01-01T00:00:00Z"}) { totalCount }"""
    ),
    "ioedeveloper/github-apiv4": """{ viewer { id email login url createdAt updatedAt databaseId
        location companyHTML company avatarUrl bio websiteUrl isHireable isDeveloperProgramMember
        anyPinnableItems isSiteAdmin isViewer viewerCanFollow viewerIsFollowing
        viewerCanCreateProjects isEmployee isBountyHunter isCampusExpert pinnedItemsRemaining
        projectsUrl } }""",
    "ioedeveloper/github-apiv4, files": repository(
        """defaultBranchRef { ... on Ref { target { ... on Commit { files: tree { entries {
        name type child: object { ... on Blob { text } ... on Tree { entries { name type } } } } } }
        } } }"""
    ),
    "MoussaaK/Github-Statistics": """{ rateLimit { cost limit remaining resetAt }
        search(query: "java", type: REPOSITORY, first: 10) { repositoryCount edges { node {
        ... on Repository { nameWithOwner primaryLanguage { name } pushedAt defaultBranchRef {
        target { ... on Commit { history { totalCount } } } } } } } } }""",
    "atlassian/github-for-jira": repository(
        """pullRequests(first: 20) { nodes { author { avatarUrl login url } databaseId
        comments { totalCount } repository { url } baseRef { name } headRef { name } number state
        title updatedAt url } }"""
    ),
    "atlassian/github-for-jira, commits": repository(
        """ref(qualifiedName: "master") { target { ... on Commit { history(first: 20) { nodes {
        author { avatarUrl name user { url } } authoredDate changedFiles message oid url } } } }
        }"""
    ),
    "anuraghazra/github-readme-stats": user(
        """name login commits: contributionsCollection { totalCommitContributions
        totalPullRequestReviewContributions } repositoriesContributedTo(first: 1,
        contributionTypes: [COMMIT, ISSUE, PULL_REQUEST, REPOSITORY]) { totalCount }
        pullRequests(first: 1) { totalCount } openIssues: issues(states: OPEN) { totalCount }
        closedIssues: issues(states: CLOSED) { totalCount } followers { totalCount }
        repositories(first: 100, ownerAffiliations: OWNER, orderBy: {direction: DESC,
        field: STARGAZERS}) { totalCount nodes { name stargazers { totalCount } } pageInfo {
        hasNextPage endCursor } }"""
    ),
    "anuraghazra/github-readme-stats, languages": user(
        f"""repositories(ownerAffiliations: OWNER, isFork: false, first: 100) {{ nodes {{ name
        {SIZES} {{ edges {{ size node {{ color name }} }} }} }} }}"""
    ),
    "anuraghazra/github-readme-stats, pins": repository(
        """name nameWithOwner isPrivate isArchived isTemplate stargazers { totalCount } description
        primaryLanguage { color id name } forkCount"""
    ),
    "anuraghazra/github-readme-stats, gists": """{ viewer { gist(name: "x") { description
        owner { login } stargazerCount forks { totalCount } } } }""",
    "ryo-ma/github-profile-trophy": user(
        """createdAt contributionsCollection { totalCommitContributions
        restrictedContributionsCount totalPullRequestReviewContributions } organizations(first: 1) {
        totalCount } followers(first: 1) { totalCount } issues(first: 1) { totalCount }
        pullRequests(first: 1) { totalCount } repositories(first: 50, ownerAffiliations: OWNER) {
        totalCount nodes { languages(first: 3, orderBy: {direction: DESC, field: SIZE}) { nodes {
        name } } stargazers { totalCount } createdAt } }"""
    ),
    "DenverCoder1/github-readme-streak-stats": user(
        """createdAt contributionsCollection(from: "2025-01-01T00:00:00Z",
        to: "2025-12-31T00:00:00Z") { contributionYears contributionCalendar { weeks {
        contributionDays { contributionCount date } } } }"""
    ),
    "yoshi389111/github-profile-3d-contrib": user(
        """contributionsCollection { contributionCalendar { isHalloween totalContributions weeks {
        contributionDays { contributionCount contributionLevel date } } }
        commitContributionsByRepository(maxRepositories: 100) { repository { primaryLanguage { name
        color } } contributions { totalCount } } totalCommitContributions totalIssueContributions
        totalPullRequestContributions totalPullRequestReviewContributions
        totalRepositoryContributions } repositories(first: 100, ownerAffiliations: OWNER) { edges {
        cursor } nodes { forkCount stargazerCount } }"""
    ),
    "gastonpereyra/cards-service": user(
        f"repositories(ownerAffiliations: OWNER, isFork: false, first: 100) {{ nodes {{ {SIZES} {{"
        " edges { size node { color name } } } } }"
    ),
    "jstrieb/github-stats": f"""{{ viewer {{ login name repositories(first: 100, orderBy: {{
        field: UPDATED_AT, direction: DESC}}, isFork: false) {{ {PAGE} totalDiskUsage nodes {{
        nameWithOwner stargazers {{ totalCount }} forkCount {SIZES} {{ edges {{ size node {{
        name color }} }} }} }} }} repositoriesContributedTo(first: 100, includeUserRepositories:
        false, contributionTypes: [COMMIT, PULL_REQUEST, REPOSITORY, PULL_REQUEST_REVIEW]) {{
        nodes {{ nameWithOwner }} }} }} }}""",
    "thisdot/starter.dev": user(
        """repositories(first: 10, orderBy: {field: PUSHED_AT, direction: DESC},
        ownerAffiliations: [OWNER]) { nodes { id name description stargazerCount forkCount
        isArchived isFork primaryLanguage { id color name } isPrivate visibility updatedAt
        owner { login } } pageInfo { endCursor startCursor hasNextPage hasPreviousPage } }"""
    ),
    "Sokka06": user(
        """name repositories(first: 10, ownerAffiliations: OWNER, privacy: PUBLIC, orderBy:
        {field: CREATED_AT, direction: DESC}) { nodes { id name description url openGraphImageUrl
        usesCustomOpenGraphImage stargazerCount repositoryTopics(first: 5) { nodes { topic { id
        name } } } } }"""
    ),
    "portfolio pages": user(
        """bio avatarUrl location company websiteUrl twitterUsername status { emoji message }
        followers { totalCount } following { totalCount } pinnedItems(first: 6, types: REPOSITORY) {
        totalCount nodes { ... on Repository { name description url stargazerCount forkCount
        homepageUrl primaryLanguage { name color } } } }
        socialAccounts(first: 4) { nodes { provider url } }"""
    ),
    "starred lists": """{ viewer { starredRepositories(first: 50, orderBy: {field: STARRED_AT,
        direction: DESC}) { isOverLimit totalCount edges { starredAt node { nameWithOwner
        description } } pageInfo { endCursor hasNextPage } } } }""",
    "emanuelef/daily-stars-explorer": repository(
        "createdAt stargazers(first: 100, orderBy: {field: STARRED_AT, direction: ASC}) {"
        " totalCount edges { starredAt } pageInfo { endCursor hasNextPage } }"
    ),
    "gh repo view": repository(
        """id name nameWithOwner owner { id login } description descriptionHTML homepageUrl url
        sshUrl isPrivate isFork isArchived isEmpty isTemplate hasIssuesEnabled hasWikiEnabled
        viewerPermission viewerCanAdminister defaultBranchRef { name target { oid } }
        parent { name owner { login } } mergeCommitAllowed squashMergeAllowed rebaseMergeAllowed
        deleteBranchOnMerge licenseInfo { key name nickname } codeOfConduct { key name url }
        fundingLinks { platform url } watchers { totalCount } latestRelease { name tagName url
        publishedAt } assignableUsers(first: 100) { nodes { id login name } } labels(first: 100) {
        nodes { id color name description createdAt } } milestones(first: 100) { nodes { number
        title description dueOn } } templateRepository { name } visibility"""
    ),
    "gh repo list": """{ viewer { login repositories(first: 30, privacy: PUBLIC, isFork: false,
        ownerAffiliations: OWNER, orderBy: {field: PUSHED_AT, direction: DESC}) { nodes {
        nameWithOwner description isPrivate isFork isArchived createdAt pushedAt visibility }
        totalCount pageInfo { hasNextPage endCursor } } } }""",
    "gh issue list": repository(
        """hasIssuesEnabled issues(first: 30, orderBy: {field: CREATED_AT, direction: DESC},
        states: [OPEN], filterBy: {assignee: null}) { totalCount nodes { number title url state
        updatedAt labels(first: 100) { nodes { id name description color } totalCount } }
        pageInfo { hasNextPage endCursor } }"""
    ),
    "gh pr list": repository(
        """pullRequests(states: [OPEN], first: 30, orderBy: {field: CREATED_AT, direction: DESC}) {
        totalCount nodes { number title state url headRefName headRepositoryOwner { id login
        ... on User { name } } isCrossRepository isDraft createdAt } pageInfo { hasNextPage
        endCursor } }"""
    ),
    "gh pr view": repository(
        """pullRequest(number: 1) { id number title state body closed mergeable additions deletions
        isDraft maintainerCanModify mergeStateStatus reviewDecision changedFiles author { login }
        baseRefName headRefName commits(last: 1) { totalCount nodes { commit { oid
        statusCheckRollup { state } } } } reviews(first: 10) { nodes { author { login } state } }
        files(first: 10) { nodes { path additions deletions } } assignees(first: 10) { nodes {
        login } } labels(first: 10) { nodes { name } } milestone { title }
        reactionGroups { content } comments { totalCount } mergedBy { login }
        mergeCommit { oid } }"""
    ),
    "gh release list": repository(
        """releases(first: 30, orderBy: {field: CREATED_AT, direction: DESC}) { nodes { name tagName
        isDraft isLatest isPrerelease createdAt publishedAt } pageInfo { hasNextPage endCursor }
        }"""
    ),
    "gh status": search(
        """... on Issue { updatedAt title number repository { nameWithOwner } }
        ... on PullRequest { updatedAt title number repository { nameWithOwner } }""",
        kind="ISSUE",
        query="assignee:@me is:open",
        more="issueCount",
    ),
    "release-drafter": repository(
        """object(expression: "refs/heads/main") { ... on Commit { history(first: 100,
        since: "2026-01-01T00:00:00Z") { totalCount pageInfo { hasNextPage endCursor } nodes {
        id committedDate message author { name user { login } } } } } }"""
    ),
    "renovate": repository(
        """id isFork isArchived nameWithOwner autoMergeAllowed hasIssuesEnabled mergeCommitAllowed
        rebaseMergeAllowed squashMergeAllowed defaultBranchRef { name target { oid } }
        issues(first: 100, orderBy: {field: UPDATED_AT, direction: DESC}, states: OPEN,
        filterBy: {createdBy: "renovate"}) { nodes { number state title body updatedAt } }
        releases(first: 100) { pageInfo { hasNextPage endCursor } nodes { version: tagName
        releaseTimestamp: publishedAt isDraft isPrerelease url id: databaseId name description } }
        tags: refs(first: 100, refPrefix: "refs/tags/", orderBy: {field: TAG_COMMIT_DATE,
        direction: DESC}) { nodes { version: name target { type: __typename ... on Commit { oid
        committedDate } ... on Tag { target { ... on Commit { committedDate } } tagger { date }
        } } }
        }"""
    ),
    "apache/devlake": """query ($owner: String!, $name: String!) { rateLimit { limit remaining
        resetAt } repository(owner: $owner, name: $name) { issues(first: 100, orderBy:
        {field: UPDATED_AT, direction: DESC}) { nodes { databaseId number state stateReason title
        body author { login ... on User { databaseId name email company avatarUrl } } url closedAt
        createdAt updatedAt assignees(first: 100) { nodes { databaseId login } } milestone {
        number }
        labels(first: 100) { nodes { id name } } } } } }""",
    "turbot/steampipe-plugin-github": repository(
        """id databaseId nodeId: id name isArchived allowUpdateBranch: mergeCommitAllowed
        createdAt defaultBranchRef { name } diskUsage forkCount hasDownloads: hasWikiEnabled
        interactionTopics: repositoryTopics { totalCount } issues { totalCount } visibility
        primaryLanguage { color id name } securityPolicyUrl isSecurityPolicyEnabled
        stargazerCount watchers { totalCount } mirrorUrl lockReason openGraphImageUrl"""
    ),
    "discussions": repository(
        """hasDiscussionsEnabled discussions(first: 5, orderBy: {field: CREATED_AT,
        direction: DESC}) { totalCount nodes { number title url upvoteCount isAnswered answer {
        body } comments { totalCount } reactions { totalCount } category { name emoji }
        author { login avatarUrl } } } discussionCategories(first: 10) { nodes { id name slug } }"""
    ),
    "people search": search(
        """... on User { login name bio followers { totalCount } avatarUrl }
        ... on Organization { login name description }""",
        kind="USER",
        query="torvalds type:user",
        more="userCount",
    ),
    "organization pages": """{ organization(login: "microsoft") { id login name description email
        location url avatarUrl websiteUrl isVerified createdAt membersWithRole(first: 5) {
        totalCount nodes { login name } } repositories(first: 5, orderBy: {field: STARGAZERS,
        direction: DESC}) { totalCount nodes { name stargazerCount primaryLanguage { name } } }
        } }""",
    "topic pages": """{ topic(name: "graphql") { name stargazerCount relatedTopics(first: 3) {
        name }
        repositories(first: 3) { totalCount nodes { nameWithOwner } } } }""",
    "owner of either kind": """{ repositoryOwner(login: "microsoft") { __typename login id avatarUrl
        url repositories(first: 2) { nodes { name } } repository(name: "vscode") { name }
        ... on Organization { name description } ... on User { name bio } } }""",
}


@pytest.fixture(scope="module", params=[False, True], ids=["facts", "filled"])
def service(request):
    """Return the stand-in in each of its modes."""
    return github.service(fill=request.param)


@pytest.mark.parametrize("program", PROGRAMS)
def test_the_documents_of_programs_are_answered(program, service):
    """With data and without an error; an unknown topic is null."""
    result = service.execute(PROGRAMS[program], {"owner": "torvalds", "name": "linux"})
    assert result.errors == ()
    assert any(value is not None for value in result.data.values()) or "topic" in result.data


@pytest.mark.slow
@pytest.mark.parametrize("program", PROGRAMS)
def test_the_documents_are_valid_at_github(program, theirs):
    """Each is a document that GitHub's own schema accepts."""
    assert validate(theirs, parse(PROGRAMS[program])) == []
